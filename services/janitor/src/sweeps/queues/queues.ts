import { webhookRetryPolicy, type RetryPolicy } from '@pasteflow/domain';
import { countWaiting, deliverySubject, jobSubject, uploadSubject } from '@pasteflow/postgres';
import { deliveryAttemptEvents, jobAttemptEvents, uploadAttemptEvents } from '@pasteflow/service-kit';
import { decodeJob, decodeUpload, queueDepth, sendJobs, sendUploads, type Queue } from '@pasteflow/sqs';
import { createSweptWork } from './create-swept-work.ts';
import { createWorkQueue, type QueueContext } from './create-work-queue.ts';
import type { SweptWork, WorkQueue } from './work-queue.ts';

/**
 * Messages that wait to be received. In a deeper queue, an overdue message is most likely still there, behind
 * others.
 */
const DEEP_QUEUE = 1000;

export function createUploadQueue(janitor: QueueContext, queueName: string, policy: RetryPolicy): WorkQueue {
  return createWorkQueue(janitor, queueName, policy, {
    subject: uploadSubject,
    events: uploadAttemptEvents,
    nameOf: ({ shortCode }) => shortCode,
    startsWhatItNames: true,
    // In a shorter queue, an upload is claimed within seconds unless its message is lost.
    countLost: async (queue) => ((await queueDepth(janitor.sqs, queue)) >= DEEP_QUEUE ? null : Infinity),
    readKey: (body) => decodeUpload(body).shortCode,
    send: sendUploads,
    // Without content: the worker reads it from its payload, which is rare enough.
    messageOf: (executionId, { shortCode }) => ({ executionId, shortCode, content: null }),
    settlementOf: (settlement) => settlement,
  });
}

/**
 * The count of waiting jobs stops at this many more than there are messages. The next run finds further lost
 * messages.
 */
const MAX_LOST = 10_000;

export function createJobQueue(janitor: QueueContext, queueName: string, policy: RetryPolicy): WorkQueue {
  return createWorkQueue(janitor, queueName, policy, {
    subject: jobSubject,
    events: jobAttemptEvents,
    nameOf: ({ jobId }) => jobId,
    startsWhatItNames: false,
    countLost: (queue) => countLostMessages(janitor, queue),
    readKey: (body) => decodeJob(body).jobId,
    send: sendJobs,
    messageOf: (executionId, { jobId }) => ({ executionId, jobId }),
    settlementOf: (settlement) => ({ ...settlement, ending: null }),
  });
}

/**
 * The number of waiting jobs without a waiting message.
 *
 * A job may wait for hours behind others, so the age of its message proves nothing. But there should be as
 * many waiting messages as waiting jobs. Any message serves any job (claimJob), so it doesn't matter whose
 * message was lost: the relay sends as many as are missing, for the jobs whose message was sent the longest
 * ago. The counts of SQS are approximate: if one is too low, there are too many messages until the queue is
 * empty; if one is too high, the next count corrects it.
 */
async function countLostMessages({ db, sqs }: QueueContext, queue: Queue): Promise<number> {
  const present = await queueDepth(sqs, queue);
  const waiting = await countWaiting(db, jobSubject, { limit: present + MAX_LOST });
  return Math.max(0, waiting - present);
}

/** Deliveries of webhooks have no messages: workers look for those that are due. */
export function createDeliveries(janitor: Omit<QueueContext, 'sqs'>): SweptWork {
  return createSweptWork(
    janitor,
    webhookRetryPolicy,
    {
      subject: deliverySubject,
      events: deliveryAttemptEvents,
      nameOf: ({ deliveryId }) => deliveryId,
      // That a worker was lost says nothing of the endpoint.
      settlementOf: (settlement) => ({ ...settlement, answered: null, endpoint: null }),
    },
    ({ length: count }) => ({ count, dispatch: () => Promise.resolve(0) }),
  ).work;
}
