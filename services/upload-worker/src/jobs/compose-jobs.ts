import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import type { JobServices, JobType } from '@pasteflow/jobs';
import { randomShortCode } from '@pasteflow/pastes';
import { stampDispatched, type Database } from '@pasteflow/postgres';
import { messageSpans, runOutsideSpans, sleep, type ServiceContext } from '@pasteflow/runtime';
import { createObjectStore } from '@pasteflow/s3';
import {
  createQueue,
  decodeJob,
  MessageDispatcher,
  sendUploads,
  type OutgoingUpload,
  type SqsClient,
} from '@pasteflow/sqs';
import type { Config } from '../config.ts';
import { createPipeline, type QueueConsumer } from '../executions/pipeline.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { createJobEvents } from './events.ts';
import type { JobDelivery } from './job-attempt.ts';
import { JobRunner } from './job-runner.ts';

/** For one job: parts of a multipart upload side by side, and what it reads meanwhile. */
const S3_SOCKETS_A_JOB = 16;

/** A part of an export that fails once must not cost an attempt of the whole; puts of pastes are retried by R3 instead. */
const S3_ATTEMPTS = 3;

/** For one job: it reads the next page while it writes. */
const CONNECTIONS_A_JOB = 2;

/** Messages that can't be sent in this time after a stop are the relay's. */
const DISPATCH_STOP_MS = 1500;

export interface JobsOptions {
  readonly worker: WorkerContext;
  readonly sqs: SqsClient;
  readonly types: ReadonlyMap<string, JobType>;
  readonly connect: (maxConnections: number) => Database;
}

/** The consumers of the jobs queue, each with one job at a time, and what jobs have to work with. */
export function composeJobs(
  { config, logger, metrics }: Pick<ServiceContext<Config>, 'config' | 'logger' | 'metrics'>,
  { worker, sqs, types, connect }: JobsOptions,
): QueueConsumer {
  const { consumers } = config.job;
  const events = createJobEvents(logger, metrics);
  // Connections of their own: whatever a job's work does with them, heartbeats and settlements get one.
  const db = connect(consumers * CONNECTIONS_A_JOB);
  const store = createObjectStore({
    region: config.aws.region,
    endpoint: config.aws.s3Endpoint,
    bucket: config.bucket,
    maxAttempts: S3_ATTEMPTS,
    requestTimeoutMs: config.upload.putTimeoutMs,
    maxSockets: consumers * S3_SOCKETS_A_JOB,
  });
  const uploads = createQueue(sqs, config.queues.uploads);
  const dispatcher = new MessageDispatcher<OutgoingUpload>({
    send: (messages) => sendUploads(sqs, uploads, messages),
    // An import makes thousands, each of which has a trace of its own to go through.
    follow: messageSpans({ queueName: uploads.name, traces: 'linked' }),
    onSent: (executionIds) => runOutsideSpans(() => stampDispatched(worker.db, executionIds)),
    onError: (error, count) =>
      runOutsideSpans(() => logger.warn('messages left to the relay', { error, count })),
  });
  const servicesFor = ({ context }: JobDelivery): JobServices => ({
    db,
    store,
    maxPasteBytes: config.maxPasteBytes,
    newShortCode: randomShortCode,
    dispatchUploads: (made) => {
      for (const { executionId, shortCode, content } of made) {
        const inline = content.length <= INLINE_CONTENT_BYTES ? content : null;
        dispatcher.dispatch({ executionId, shortCode, content: inline, context });
      }
    },
  });
  const pipeline = createPipeline({
    worker,
    sqs,
    aws: { region: config.aws.region, endpoint: config.aws.sqsEndpoint },
    queueName: config.queues.jobs,
    consumers,
    batchSize: 1,
    decode: decodeJob,
    events,
    handler: (messages) => {
      const retry = config.jobRetry;
      const runner = new JobRunner({ worker, messages, retry, types, servicesFor, events, logger });
      return (deliveries) => runner.handle(deliveries);
    },
  });
  return {
    pipeline,
    store,
    components: [
      { name: 'connections of jobs', start: () => Promise.resolve(), stop: () => db.destroy() },
      { name: 'dispatcher', start: () => Promise.resolve(), stop: () => stopDispatcher(dispatcher) },
    ],
  };
}

/** Sends what waits, but not for long. */
async function stopDispatcher(dispatcher: MessageDispatcher<OutgoingUpload>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([dispatcher.stop(), sleep(DISPATCH_STOP_MS, waiting.signal)]);
  waiting.abort();
}
