import { stampDispatched, type Database } from '@pasteflow/postgres';
import { messageSpans, runOutsideSpans, sleep, type Component, type Logger } from '@pasteflow/runtime';
import {
  createQueue,
  createSqsClient,
  MessageDispatcher,
  queueDepth,
  sendJobs,
  sendUploads,
  type OutgoingJob,
  type OutgoingUpload,
} from '@pasteflow/sqs';
import type { Config } from './config.ts';

/** Short, because the relay sends what is not sent in time, and sending twice is harmless. */
const SQS_REQUEST_TIMEOUT_MS = 2000;

/** Within the 2 s that a stop leaves after the HTTP server has stopped. */
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
  });
  const uploadQueue = createQueue(sqs, queues.uploads);
  const jobQueue = createQueue(sqs, queues.jobs);
  const onSent = (executionIds: readonly string[]): Promise<void> =>
    runOutsideSpans(() => stampDispatched(db, executionIds));
  const onError = (error: unknown, count: number): void =>
    runOutsideSpans(() => logger.warn('messages left to the relay', { error, count }));
  const uploads = new MessageDispatcher<OutgoingUpload>({
    send: (messages) => sendUploads(sqs, uploadQueue, messages),
    trace: messageSpans({ queueName: uploadQueue.name, relation: 'child' }),
    onSent,
    onError,
  });
  const jobs = new MessageDispatcher<OutgoingJob>({
    send: (messages) => sendJobs(sqs, jobQueue, messages),
    trace: messageSpans({ queueName: jobQueue.name, relation: 'child' }),
    onSent,
    onError,
  });
  return {
    uploads,
    jobs,
    ping: () => queueDepth(sqs, uploadQueue),
    component: {
      name: 'dispatchers',
      start: () => Promise.resolve(),
      stop: () => stopDispatchers([uploads, jobs], () => sqs.destroy()),
    },
  };
}

/**
 * Sends the waiting messages for at most DISPATCH_STOP_MS. Then the connections are cut, and the relay sends
 * the rest.
 */
async function stopDispatchers(
  dispatchers: readonly { stop(): Promise<void> }[],
  cutConnections: () => void,
): Promise<void> {
  const waiting = new AbortController();
  const stopped = Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  await Promise.race([stopped, sleep(DISPATCH_STOP_MS, waiting.signal)]);
  waiting.abort();
  cutConnections();
}
