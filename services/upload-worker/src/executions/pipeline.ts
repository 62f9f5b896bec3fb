import { heartbeatIntervalMs, messageVisibilitySeconds } from '@pasteflow/domain';
import { PollLoop, type Component } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import {
  changeVisibility,
  ConsumerGroup,
  createQueue,
  createSqsClient,
  deadLetterQueueName,
  MessageReturner,
  type Decode,
  type Delivery,
  type Queue,
  type SqsClient,
  type SqsClientOptions,
} from '@pasteflow/sqs';
import type { ExecutionEvents } from './events.ts';
import { HeldMessages } from './held-messages.ts';
import type { WorkerContext } from './worker-context.ts';

/** From a queue into this process and back: its consumers, the messages they hold, and how those are given back. */
export interface Pipeline {
  readonly queue: Queue;
  /** Keeps what is held hidden. */
  readonly heartbeat: Component;
  readonly returner: MessageReturner;
  readonly consumers: Pick<ConsumerGroup<unknown>, 'start' | 'stop'>;
  /** Once nothing is received or acknowledged any more. */
  close(): void;
}

/** One queue's work: its pipeline, the bucket as it needs it, and what else has to be started and stopped. */
export interface QueueConsumer {
  readonly pipeline: Pipeline;
  readonly store: ObjectStore;
  readonly components: readonly Component[];
}

export interface PipelineOptions<Body> {
  readonly worker: WorkerContext;
  readonly queueName: string;
  readonly aws: Pick<SqsClientOptions, 'region' | 'endpoint'>;
  /** For everything but receiving. */
  readonly sqs: SqsClient;
  readonly consumers: number;
  readonly batchSize: number;
  readonly decode: Decode<Body>;
  readonly events: ExecutionEvents;
  /** Makes what handles a batch: see ConsumerGroup. */
  readonly handler: (
    messages: HeldMessages,
  ) => (deliveries: readonly Delivery<Body>[]) => Promise<readonly Delivery<Body>[]>;
}

/**
 * Twice the wait of a long poll. After an outage that swallowed requests the consumers come back when the last of these has run out, and
 * the uploads have to follow within 10 s of SQS's return.
 */
const RECEIVE_TIMEOUT_MS = 4000;

export function createPipeline<Body>(options: PipelineOptions<Body>): Pipeline {
  const { worker, queueName, aws, sqs, consumers, batchSize, decode, events, handler } = options;
  const { gate, leaseSeconds } = worker;
  const visibilitySeconds = messageVisibilitySeconds(leaseSeconds);
  const intervalMs = heartbeatIntervalMs(leaseSeconds);
  const receiving = createSqsClient({
    ...aws,
    maxSockets: consumers * 2,
    requestTimeoutMs: RECEIVE_TIMEOUT_MS,
    maxAttempts: 1, // the consumers back off by themselves, and a stop must not wait for a second try
  });
  const queue = createQueue(sqs, queueName);
  const returner = new MessageReturner(sqs, queue, (error) =>
    events.dependencyFailed('handing a message back', error),
  );
  const messages = new HeldMessages({
    visibilitySeconds,
    changeVisibility: (changes) => changeVisibility(sqs, queue, changes),
    returner,
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
    consumers: new ConsumerGroup({
      client: receiving,
      queue,
      deadLetterQueue: createQueue(sqs, deadLetterQueueName(queueName)),
      consumers,
      batchSize,
      decode,
      visibilitySeconds,
      handle: handler(messages),
      beforeReceive: () => gate.waitUntilOpen(),
      onMalformed: (error, message) => events.malformedMessage(error, message.MessageId),
      onError: (error) => events.dependencyFailed('receiving messages', error),
    }),
    close: () => receiving.destroy(),
  };
}
