import { stampUnlocked, type Database } from '@pasteflow/postgres';
import { messageSpans, runOutsideSpans, type Component, type Logger } from '@pasteflow/runtime';
import {
  createQueue,
  createSqsClient,
  DIRECT_REFUSED,
  MessageDispatcher,
  queueDepth,
  sendJobs,
  sendUploads,
  sendUploadsWithoutContent,
  type OutgoingJob,
  type OutgoingUpload,
} from '@pasteflow/sqs';
import type { Config } from './config.ts';

/** Short, because the relay sends what is not sent in time, and sending twice is harmless. */
const SQS_REQUEST_TIMEOUT_MS = 2000;

/** For the waiting messages: within the 2 s that a stop leaves after the HTTP server has stopped. */
const DISPATCH_STOP_MS = 1500;

export interface Dispatchers {
  readonly uploads: MessageDispatcher<OutgoingUpload>;
  readonly jobs: MessageDispatcher<OutgoingJob>;
  /** For the readiness check. @throws when SQS does not answer */
  ping(): Promise<unknown>;
  /** Needs no start: SQS is connected at the first message. */
  readonly component: Component;
}

/** What sends the messages for new pastes and jobs, after their commit. */
export function composeDispatchers(
  { aws, queues }: Pick<Config, 'aws' | 'queues'>,
  { db, logger }: { db: Database; logger: Logger },
): Dispatchers {
  const sqs = createSqsClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    requestTimeoutMs: SQS_REQUEST_TIMEOUT_MS,
    requests: aws.requests,
    onDirectRefused: (error) => logger.warn(DIRECT_REFUSED, { error }),
  });
  const uploadQueue = createQueue(sqs, queues.uploads);
  const dispatcher = <Message extends OutgoingUpload | OutgoingJob>(
    queue: ReturnType<typeof createQueue>,
    send: (client: typeof sqs, to: typeof queue, messages: readonly Message[]) => Promise<readonly string[]>,
  ): MessageDispatcher<Message> =>
    new MessageDispatcher({
      send: (messages) => send(sqs, queue, messages),
      trace: messageSpans({ queueName: queue.name, relation: 'child' }),
      onSent: (executionIds) => stampUnlocked(db, executionIds),
      onError: (error, count) =>
        runOutsideSpans(() => logger.warn('messages left to the relay', { error, count })),
    });
  const uploads = dispatcher(uploadQueue, queues.withContent ? sendUploads : sendUploadsWithoutContent);
  const jobs = dispatcher(createQueue(sqs, queues.jobs), sendJobs);
  return {
    uploads,
    jobs,
    ping: () => queueDepth(sqs, uploadQueue),
    component: {
      name: 'dispatchers',
      start: () => Promise.resolve(),
      stop: async () => {
        await Promise.all([uploads.stop(DISPATCH_STOP_MS), jobs.stop(DISPATCH_STOP_MS)]);
        sqs.destroy(); // cuts the connections: the relay sends the rest
      },
    },
  };
}
