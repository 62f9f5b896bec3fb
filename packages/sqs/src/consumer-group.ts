import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import type { MessageContext } from '@pasteflow/domain';
import { Consumer } from 'sqs-consumer';
import type { Queue } from './queue.ts';
import { decodeContext, type Decode } from './wire.ts';

/**
 * One receipt of one message. Its receipt handle is needed to acknowledge the message or to change its
 * visibility timeout.
 */
export interface Delivery<Body> {
  /** The decoded body: an UploadMessage or a JobMessage. */
  readonly body: Body;
  readonly context: MessageContext;
  readonly receiptHandle: string;
  readonly message: Message;
}

/** Without a backoff sqs-consumer retries a failed receive immediately (measured: 1046 times in 2 s). */
const RECEIVE_BACKOFF_MS = { first: 100, max: 1600 };

/**
 * Several consumers on one queue that start and stop together. Unless the queue has full batches, one of them
 * polls.
 */
export class ConsumerGroup<Body> {
  readonly #options;
  #consumers: readonly Consumer[] = [];
  #starting: Promise<void> = Promise.resolve();
  #failures = 0;
  #stopping = false;
  readonly #stop = new AbortController();
  readonly #turns = new ReceiveTurns();

  constructor(options: {
    /** Used only to receive and acknowledge, because a long poll holds a connection. */
    readonly client: SQSClient;
    readonly queue: Queue;
    readonly deadLetterQueue: Queue;
    /**
     * Number of consumers. Each has one poll loop that handles a whole batch before the next receive, so
     * concurrency needs several.
     */
    readonly consumers: number;
    /**
     * Messages per receive, 1 to 10. Use 1 for work that takes long: the messages of a batch wait for each
     * other.
     */
    readonly batchSize: number;
    readonly decode: Decode<Body>;
    readonly visibilitySeconds: number;
    /**
     * Handles a batch and returns the deliveries whose outcome is in Postgres. One request acknowledges these.
     * Must not throw.
     */
    readonly handle: (deliveries: readonly Delivery<Body>[]) => Promise<readonly Delivery<Body>[]>;
    /**
     * Awaited before each receive, to delay it while messages could not be processed. It must resolve when the
     * group is to stop.
     */
    readonly beforeReceive: () => Promise<void>;
    readonly onMalformed: (error: unknown, message: Message) => void;
    readonly onError: (error: unknown) => void;
  }) {
    this.#options = options;
  }

  /** Returns immediately. While SQS is down the group retries with the same backoff as for a receive. */
  start(): void {
    this.#starting = this.#startConsumers();
  }

  /** Receives no more messages, and resolves when every batch has been handled and acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stop.abort();
    this.#turns.stop();
    await this.#starting;
    for (const consumer of this.#consumers) consumer.stop();
    await Promise.all(this.#consumers.map(waitUntilDrained));
  }

  async #startConsumers(): Promise<void> {
    while (!this.#stopping) {
      try {
        const queueUrl = await this.#options.queue.url();
        this.#consumers = Array.from({ length: this.#options.consumers }, () =>
          this.#createConsumer(queueUrl),
        );
        this.#failures = 0;
        for (const consumer of this.#consumers) consumer.start();
        return;
      } catch (error) {
        this.#failures += 1;
        this.#options.onError(error);
        await this.#backOff();
      }
    }
  }

  #createConsumer(queueUrl: string): Consumer {
    const { client, batchSize, visibilitySeconds, onError } = this.#options;
    const turn = this.#turns.add();
    const consumer = Consumer.create({
      queueUrl,
      sqs: client,
      batchSize,
      waitTimeSeconds: turn.waitSeconds,
      visibilityTimeout: visibilitySeconds,
      messageAttributeNames: ['All'],
      authenticationErrorTimeout: 0,
      preReceiveMessageCallback: async () => {
        await turn.begin();
        await this.#beforeReceive();
      },
      postReceiveMessageCallback: () => {
        this.#failures = 0;
        return Promise.resolve();
      },
      handleMessageBatch: (messages) => {
        turn.end(messages.length >= batchSize ? 'a full batch' : 'messages');
        consumer.updateOption('waitTimeSeconds', turn.waitSeconds);
        return this.#handle(messages);
      },
    });
    consumer.on('empty', () => {
      turn.end('none');
      consumer.updateOption('waitTimeSeconds', turn.waitSeconds);
    });
    consumer.on('error', (error) => {
      turn.end('error');
      if (this.#stopping) return;
      this.#failures += 1;
      onError(error);
    });
    return consumer;
  }

  async #beforeReceive(): Promise<void> {
    await this.#backOff();
    if (!this.#stopping) await this.#options.beforeReceive();
    if (this.#stopping) throw new Error('The consumer group is stopping and receives no more messages.');
  }

  async #backOff(): Promise<void> {
    if (this.#failures === 0) return;
    const wait = Math.min(RECEIVE_BACKOFF_MS.first * 2 ** (this.#failures - 1), RECEIVE_BACKOFF_MS.max);
    await sleep(wait, undefined, { signal: this.#stop.signal }).catch(() => {}); // aborted: stopping
  }

  /**
   * Handles valid messages first: their visibility timeout is running, and moving the malformed ones may take
   * long.
   */
  async #handle(messages: Message[]): Promise<Message[]> {
    const deliveries: Delivery<Body>[] = [];
    const malformed: Message[] = [];
    for (const message of messages) {
      try {
        deliveries.push(this.#toDelivery(message));
      } catch (error) {
        this.#options.onMalformed(error, message);
        malformed.push(message);
      }
    }
    const done = deliveries.length > 0 ? await this.#options.handle(deliveries) : [];
    const moved = await Promise.all(
      malformed.map(async (message) => ((await this.#moveToDeadLetters(message)) ? [message] : [])),
    );
    return [...moved.flat(), ...done.map(({ message }) => message)];
  }

  #toDelivery(message: Message): Delivery<Body> {
    return {
      body: this.#options.decode(message.Body),
      context: decodeContext(message.MessageAttributes),
      receiptHandle: message.ReceiptHandle ?? '',
      message,
    };
  }

  /**
   * Moves a malformed message to the dead-letter queue immediately instead of after a hundred receives. A
   * process that is killed between sending and acknowledging leaves the message in both queues, which does no
   * harm.
   * @returns whether the dead-letter queue has the message
   */
  async #moveToDeadLetters(message: Message): Promise<boolean> {
    try {
      const QueueUrl = await this.#options.deadLetterQueue.url();
      await this.#options.client.send(
        new SendMessageCommand({
          QueueUrl,
          MessageBody: message.Body,
          MessageAttributes: message.MessageAttributes,
        }),
      );
      return true;
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }
}

/**
 * sqs-consumer emits `stopped` while handlers still run. `isPolling` becomes false when the last batch has
 * been acknowledged.
 */
async function waitUntilDrained(consumer: Consumer): Promise<void> {
  while (consumer.status.isPolling) await new Promise((resolve) => setTimeout(resolve, 20));
}

/**
 * The waits of long polls in seconds. The first is short, and each that brings nothing doubles the next: an
 * idle queue costs 12 requests a minute. A stop lets the poll finish, because SQS may already have delivered
 * messages to an aborted receive, which would stay hidden until their visibility timeout. So the longest is
 * no longer than the grace period of a stop.
 */
const WAIT_SECONDS = { first: 1, max: 5 };

/** What one consumer asks before and after each receive. */
export interface ReceiveTurn {
  /** Resolves when the consumer may receive, or the group stops. */
  begin(): Promise<void>;
  /** The receive has ended, or did not begin. Further calls until the next `begin` do nothing. */
  end(what: 'a full batch' | 'messages' | 'none' | 'error'): void;
  /** For the next receive. */
  readonly waitSeconds: number;
}

/**
 * Lets all consumers of a group receive while receives bring full batches, and otherwise one at a time. Several
 * that wait for messages would share what comes, and each share costs a request and a claim.
 */
export class ReceiveTurns {
  #receiving = 0;
  #hasMore = false;
  #waitSeconds = WAIT_SECONDS.first;
  #isStopping = false;
  readonly #waiting = new Set<() => void>();

  add(): ReceiveTurn {
    let isReceiving = false;
    const waitSeconds = () => this.#waitSeconds;
    return {
      begin: async () => {
        while (!this.#hasMore && this.#receiving > 0 && !this.#isStopping)
          await new Promise<void>((resolve) => this.#waiting.add(resolve));
        isReceiving = true;
        this.#receiving += 1;
      },
      end: (what) => {
        if (!isReceiving) return;
        isReceiving = false;
        this.#receiving -= 1;
        if (what !== 'error') this.#hasMore = what === 'a full batch';
        this.#waitSeconds =
          what === 'none' ? Math.min(WAIT_SECONDS.max, this.#waitSeconds * 2) : WAIT_SECONDS.first;
        this.#wakeAll();
      },
      get waitSeconds() {
        return waitSeconds();
      },
    };
  }

  stop(): void {
    this.#isStopping = true;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
