import { INLINE_CONTENT_BYTES } from '@pasteflow/domain';
import type { JobServices } from '@pasteflow/jobs';
import { randomShortCode } from '@pasteflow/service-kit';
import { addWorkKinds, hasClaimableJob, stampUnlocked } from '@pasteflow/postgres';
import { messageSpans, runOutsideSpans } from '@pasteflow/runtime';
import { createObjectStore, DIRECT_REFUSED } from '@pasteflow/s3';
import {
  createQueue,
  decodeJob,
  MessageDispatcher,
  sendUploads,
  sendUploadsWithoutContent,
  type OutgoingUpload,
} from '@pasteflow/sqs';
import { createPipeline, type QueueConsumer } from '../executions/pipeline.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { createJobEvents } from '../events.ts';
import type { JobDelivery } from './job-attempt.ts';
import { createJobHandler } from './job-runner.ts';

/** For one job: concurrent parts of a multipart upload, and reads at the same time. */
const S3_SOCKETS_A_JOB = 16;

/**
 * One failed request of an export must not fail the whole attempt. Puts of pastes are repeated as attempts
 * instead.
 */
const S3_ATTEMPTS = 3;

/** For one job, which reads the next page while it writes. */
const CONNECTIONS_A_JOB = 2;

/** Time to send messages after a stop. The relay sends the others. */
const DISPATCH_STOP_MS = 1500;

/** The consumers of the jobs queue, each with one job at a time, and the services of job types. */
export function composeJobs(worker: WorkerContext): QueueConsumer {
  const { config, logger, metrics, sqs, connect, jobTypes } = worker;
  const { consumers } = config.job;
  const events = createJobEvents(logger, metrics);
  // A separate pool, so that heartbeats and settlements get a connection whatever the jobs do with theirs.
  const db = connect(consumers * CONNECTIONS_A_JOB);
  const store = createObjectStore({
    region: config.aws.region,
    endpoint: config.aws.s3Endpoint,
    bucket: config.bucket,
    maxAttempts: S3_ATTEMPTS,
    requestTimeoutMs: config.upload.putTimeoutMs,
    maxSockets: consumers * S3_SOCKETS_A_JOB,
    requests: config.aws.requests,
    onDirectRefused: (error) => logger.warn(DIRECT_REFUSED, { error }),
  });
  const uploads = createQueue(sqs, config.queues.uploads);
  const send = config.queues.withContent ? sendUploads : sendUploadsWithoutContent;
  const dispatcher = new MessageDispatcher<OutgoingUpload>({
    send: (messages) => send(sqs, uploads, messages),
    // An import creates thousands of uploads, so each gets a trace of its own.
    trace: messageSpans({ queueName: uploads.name, relation: 'linked' }),
    onSent: (executionIds) => stampUnlocked(worker.db, executionIds),
    onError: (error, count) =>
      runOutsideSpans(() => logger.warn('messages left to the relay', { error, count })),
  });
  const servicesFor = ({ context }: JobDelivery): JobServices => ({
    db,
    store,
    maxPasteBytes: config.maxPasteBytes,
    quotas: config.quotas,
    newShortCode: randomShortCode,
    dispatchUploads: (made) => {
      for (const { executionId, shortCode, content } of made) {
        const inline = content.length <= INLINE_CONTENT_BYTES ? content : null;
        dispatcher.dispatch({ executionId, shortCode, content: inline, context });
      }
    },
  });
  let isKnown = false;
  const pipeline = createPipeline(worker, {
    queueName: config.queues.jobs,
    consumers,
    batchSize: 1,
    decode: decodeJob,
    events,
    mayReceive: async () => {
      if (!isKnown) await addWorkKinds(worker.db, [...jobTypes.keys()]);
      isKnown = true;
      return await hasClaimableJob(worker.db);
    },
    handler: (queue) => createJobHandler(worker, queue, events, servicesFor),
  });
  return {
    pipeline,
    store,
    components: [
      { name: 'connections of jobs', start: () => Promise.resolve(), stop: () => db.destroy() },
      { name: 'dispatcher', start: () => Promise.resolve(), stop: () => dispatcher.stop(DISPATCH_STOP_MS) },
    ],
  };
}
