import { INLINE_CONTENT_BYTES, type JobMessage } from '@pasteflow/domain';
import type { JobServices } from '@pasteflow/jobs';
import { randomShortCode } from '@pasteflow/service-kit';
import {
  addWorkKinds,
  hasClaimableJob,
  stampUnlocked,
  claimJob,
  type ClaimedJob,
  type JobClaim,
} from '@pasteflow/postgres';
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
import {
  createPipeline,
  type QueueConsumer,
  type BatchHandler,
  type HandledQueue,
} from '../executions/pipeline.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { createJobEvents, type JobEvents } from '../events.ts';
import { type JobDelivery, JobAttempt } from './job-attempt.ts';
import { PAUSED_DELAY_MS, RETURN_DELAY_MS } from '../executions/held-messages.ts';

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

/**
 * Handles messages one by one: claims the job whose turn it is, has it attempted, and acts on what follows. A
 * message says that a job is due, and the claim decides which. Never throws.
 * @param servicesFor for the work that one message stands for
 */
function createJobHandler(
  worker: WorkerContext,
  { messages, pauses }: HandledQueue,
  events: JobEvents,
  servicesFor: (delivery: JobDelivery) => JobServices,
): BatchHandler<JobMessage> {
  /** @returns after how long the message is to come back, in ms; null: never */
  async function handle(delivery: JobDelivery): Promise<number | null> {
    if (worker.stopping.aborted) return 0; // the last long poll has brought it: it is another worker's
    const claimedAt = worker.running.now();
    const claimBeganAt = performance.now();
    const claim = await claimFor(delivery);
    switch (claim.kind) {
      case 'claimed': {
        const own = deliveryOf(claim.execution, delivery);
        const attempt = new JobAttempt(claim.execution, own, { worker, services: servicesFor(own), events });
        const nextStep = await attempt.run(claimedAt, claimBeganAt);
        if (nextStep === null) return RETURN_DELAY_MS;
        return nextStep.kind === 'retry' ? nextStep.delayMs : null;
      }
      case 'not_now':
        return claim.waitMs;
      case 'paused':
        pauses.close();
        return PAUSED_DELAY_MS;
      case 'ended':
        return null;
      default:
        return claim satisfies never;
    }
  }

  async function claimFor({ body: { jobId } }: JobDelivery): Promise<JobClaim> {
    const { db, actor, leaseSeconds, gate } = worker;
    try {
      return await claimJob(db, { jobId, actor, leaseSeconds });
    } catch (error) {
      events.dependencyFailed('claiming a job', error);
      gate.close();
      return { kind: 'not_now', waitMs: RETURN_DELAY_MS };
    }
  }

  return {
    handle: (deliveries) =>
      messages.whileHeld(deliveries, async () => {
        const done: JobDelivery[] = [];
        for (const delivery of deliveries) {
          const waitMs = await handle(delivery);
          if (waitMs === null) done.push(delivery);
          else await messages.returnToQueue(delivery, waitMs);
        }
        return done;
      }),
  };
}

/** The request of the message that named another job is not the request of this job. */
function deliveryOf({ jobId }: ClaimedJob, delivery: JobDelivery): JobDelivery {
  return delivery.body.jobId === jobId ? delivery : { ...delivery, body: { jobId }, context: {} };
}
