import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';
import type { Delivery } from './delivery.ts';
import type { Queue } from './queue.ts';
import { decodeContext, type Decode } from './wire.ts';

export interface ConsumerGroupOptions<Body> {
  /** For receiving and acknowledging only: a long poll holds a connection. */
  readonly client: SQSClient;
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  /** sqs-consumer has one poll loop each, whose next receive waits for the whole batch: concurrency is several consumers. */
  readonly consumers: number;
  /** Messages that a consumer receives at once, 1 to 10. With work that takes long, more than 1 would wait for each other. */
  readonly batchSize: number;
  readonly decode: Decode<Body>;
  readonly visibilitySeconds: number;
  /** Handles a batch and returns those whose outcome is in Postgres: they are acknowledged in one request. Must not throw. */
  readonly handle: (deliveries: readonly Delivery<Body>[]) => Promise<readonly Delivery<Body>[]>;
  /** Awaited before each receive: holds the consumers back while there is no sense in receiving. It must let go when all is to stop. */
  readonly beforeReceive: () => Promise<void>;
  readonly onMalformed: (error: unknown, message: Message) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Wait of a long poll in seconds. Stopping lets the poll end rather than abort it, since SQS may already have handed messages to an
 * aborted receive, which then stay hidden; 2 s keep that short, and cost an idle consumer 30 requests a minute.
 */
const RECEIVE_WAIT_SECONDS = 2;

/** sqs-consumer retries a failed receive at once, 1046 times in 2 s. */
const RECEIVE_BACKOFF_MS = { first: 100, longest: 3200 };

/** Several consumers on one queue that start and stop together. */
export class ConsumerGroup<Body> {
  readonly #options: ConsumerGroupOptions<Body>;
  #consumers: readonly Consumer[] = [];
  #starting: Promise<void> = Promise.resolve();
  #failures = 0;
  #stopping = false;
  readonly #stop = new AbortController();

  constructor(options: ConsumerGroupOptions<Body>) {
    this.#options = options;
  }

  /** Doesn't wait for SQS: while it is down the group tries again, as it does for a receive. */
  start(): void {
    this.#starting = this.#startConsumers();
  }

  /** Receives nothing new, and resolves when every batch has been handled and acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stop.abort();
    await this.#starting;
    for (const consumer of this.#consumers) consumer.stop();
    await Promise.all(this.#consumers.map(drained));
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
    const consumer = Consumer.create({
      queueUrl,
      sqs: client,
      batchSize,
      waitTimeSeconds: RECEIVE_WAIT_SECONDS,
      visibilityTimeout: visibilitySeconds,
      messageAttributeNames: ['All'],
      authenticationErrorTimeout: 0,
      preReceiveMessageCallback: () => this.#beforeReceive(),
      postReceiveMessageCallback: () => {
        this.#failures = 0;
        return Promise.resolve();
      },
      handleMessageBatch: (messages) => this.#handle(messages),
    });
    consumer.on('error', (error) => {
      if (this.#stopping) return;
      this.#failures += 1;
      onError(error);
    });
    return consumer;
  }

  async #beforeReceive(): Promise<void> {
    await this.#backOff();
    if (!this.#stopping) await this.#options.beforeReceive();
    if (this.#stopping) throw new Error('stopping: nothing is received any more');
  }

  async #backOff(): Promise<void> {
    if (this.#failures === 0) return;
    const wait = Math.min(RECEIVE_BACKOFF_MS.first * 2 ** (this.#failures - 1), RECEIVE_BACKOFF_MS.longest);
    await sleep(wait, undefined, { signal: this.#stop.signal }).catch(() => {}); // aborted: stopping
  }

  /** What can be read goes first: its time is running, and SQS may be slow to take the rest. */
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
    const buried = await Promise.all(
      malformed.map(async (message) => ((await this.#bury(message)) ? [message] : [])),
    );
    return [...buried.flat(), ...done.map(({ message }) => message)];
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
   * A message that no worker can read goes to the dead-letter queue now, not after a hundred receives. Killed between the two requests,
   * it is there twice, which does no harm. @returns whether it is safely there
   */
  async #bury(message: Message): Promise<boolean> {
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

/** sqs-consumer says `stopped` while handlers still run; `isPolling` is false only when the last batch is acknowledged. */
async function drained(consumer: Consumer): Promise<void> {
  while (consumer.status.isPolling) await new Promise((resolve) => setTimeout(resolve, 20));
}
