import { heartbeatIntervalMs, messageVisibilitySeconds } from '@pasteflow/domain';
import { PollLoop, type Component } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import {
  Acknowledger,
  changeVisibility,
  ConsumerGroup,
  createQueue,
  createSqsClient,
  deadLetterQueueName,
  DIRECT_REFUSED,
  MessageReturner,
  type Decode,
  type Delivery,
  type Queue,
} from '@pasteflow/sqs';
import type { QueuedEvents } from '../events.ts';
import { HeldMessages } from './held-messages.ts';
import { ReceiveGate } from './receive-gate.ts';
import type { WorkerContext } from './worker-context.ts';

/**
 * The connection of this process to one queue: consumers, the messages that they hold, and how messages are
 * returned.
 */
export interface Pipeline {
  readonly queue: Queue;
  /** Extends the visibility timeout of held messages. */
  readonly heartbeat: Component;
  readonly returner: MessageReturner;
  /** A stop resolves when every message has been handled. */
  readonly consumers: Pick<ConsumerGroup<unknown>, 'start' | 'stop'>;
  /** To be called when no more messages are received or acknowledged. */
  close(): void;
}

/**
 * Everything that processes one queue: its pipeline, its object store, and further components to start and
 * stop.
 */
export interface QueueConsumer {
  readonly pipeline: Pipeline;
  readonly store: ObjectStore;
  readonly components: readonly Component[];
}

/** What handles the batches of a queue. */
export interface BatchHandler<Body> {
  /** See `ConsumerGroup`. */
  handle(deliveries: readonly Delivery<Body>[]): Promise<readonly Delivery<Body>[]>;
  /**
   * Awaited after the last batch. Resolves when nothing is left to do for any message. Without it, `handle`
   * must not resolve before that.
   */
  drain?(): Promise<void>;
}

export interface HandledQueue {
  readonly messages: HeldMessages;
  readonly acknowledger: Acknowledger;
  /** To be closed when a claim found a pause. */
  readonly pauses: Pick<ReceiveGate, 'close'>;
}

/**
 * A second more than the longest wait of a long poll. After an outage without answers the consumers resume
 * when their last request has timed out, and uploads must resume within 10 s after SQS is back.
 */
const RECEIVE_TIMEOUT_MS = 6000;

export function createPipeline<Body>(
  { config, logger, sqs, gate, bucket, leaseSeconds }: WorkerContext,
  {
    queueName,
    consumers,
    batchSize,
    decode,
    events,
    mayReceive,
    handler,
  }: {
    readonly queueName: string;
    readonly consumers: number;
    readonly batchSize: number;
    readonly decode: Decode<Body>;
    readonly events: QueuedEvents;
    /** Whether the kinds of work of this queue are not all paused. */
    readonly mayReceive: () => Promise<boolean>;
    readonly handler: (queue: HandledQueue) => BatchHandler<Body>;
  },
): Pipeline {
  const visibilitySeconds = messageVisibilitySeconds(leaseSeconds);
  const intervalMs = heartbeatIntervalMs(leaseSeconds);
  const receiving = createSqsClient({
    region: config.aws.region,
    endpoint: config.aws.sqsEndpoint,
    maxSockets: consumers * 2,
    requestTimeoutMs: RECEIVE_TIMEOUT_MS,
    maxAttempts: 1, // the consumer group has its own backoff, and a stop must not wait for a second attempt
    requests: config.aws.requests,
    onDirectRefused: (error) => logger.warn(DIRECT_REFUSED, { error }),
  });
  const queue = createQueue(sqs, queueName);
  const returner = new MessageReturner(sqs, queue, (error) =>
    events.dependencyFailed('returning a message', error),
  );
  const messages = new HeldMessages({
    visibilitySeconds,
    changeVisibility: (changes) => changeVisibility(sqs, queue, changes),
    returner,
  });
  const acknowledger = new Acknowledger(receiving, queue, (error) =>
    events.dependencyFailed('acknowledging messages', error),
  );
  const pauses = new ReceiveGate(mayReceive);
  const batches = handler({ messages, acknowledger, pauses });
  const consumerGroup = new ConsumerGroup({
    client: receiving,
    queue,
    deadLetterQueue: createQueue(sqs, deadLetterQueueName(queueName)),
    consumers,
    batchSize,
    decode,
    visibilitySeconds,
    handle: (deliveries) => batches.handle(deliveries),
    beforeReceive: async () => {
      await bucket.waitUntilVerified();
      await gate.waitUntilOpen();
      await pauses.waitUntilOpen();
    },
    onMalformed: (error, message) => events.malformedMessage(error, message.MessageId),
    onError: (error) => events.dependencyFailed('receiving messages', error),
  });
  return {
    queue,
    returner,
    heartbeat: new PollLoop({
      name: `visibility of ${queueName}`,
      intervalMs,
      run: () => messages.keepHidden(),
      onError: (error) => events.dependencyFailed('keeping messages hidden', error),
      backoff: { firstMs: 250, capMs: intervalMs, jitter: 0.2 },
    }),
    consumers: {
      start: () => {
        pauses.close(); // a worker that restarts during a pause must not receive at all
        consumerGroup.start();
      },
      stop: async () => {
        pauses.stop();
        await consumerGroup.stop();
        await batches.drain?.();
      },
    },
    close: () => receiving.destroy(),
  };
}
