import { jobAttemptEvents } from '@pasteflow/service-kit';
import { countWaiting, jobSubject, type Database } from '@pasteflow/postgres';
import { messageSpans } from '@pasteflow/runtime';
import {
  createQueue,
  deadLetterQueueName,
  decodeJob,
  queueDepth,
  sendTraced,
  sendJobs,
  type OutgoingJob,
  type Queue,
  type SqsClient,
} from '@pasteflow/sqs';
import type { QueueOptions } from './upload-queue.ts';
import { RepeatedLosses } from './repeated-losses.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** The count of waiting jobs stops at this many more than there are messages. The next run finds further lost messages. */
const MAX_LOST = 10_000;

export function createJobQueue({ db, sqs, queueName, policy, logger, metrics }: QueueOptions): WorkQueue {
  const queue = createQueue(sqs, queueName);
  const trace = messageSpans<OutgoingJob>({ queueName, relation: 'child' });
  return createWorkQueue({
    db,
    policy,
    subject: jobSubject,
    events: jobAttemptEvents(logger, metrics),
    logger,
    repeatedLosses: new RepeatedLosses('job', logger),
    nameOf: ({ jobId }) => jobId,
    queue,
    deadLetters: createQueue(sqs, deadLetterQueueName(queueName)),
    startsWhatItNames: false,
    countLost: () => countLostMessages(db, sqs, queue),
    readKey: (body) => decodeJob(body).jobId,
    send: (batch) =>
      sendTraced(
        trace,
        batch.map((message) => ({ ...message, context: {} })),
        (messages) => sendJobs(sqs, queue, messages),
      ),
    messageOf: (executionId, { jobId }) => ({ executionId, jobId }),
    settlementOf: (settlement) => ({ ...settlement, ending: null }),
  });
}

/**
 * The number of waiting jobs without a waiting message.
 *
 * A job may wait for hours behind others, so the age of its message proves nothing. But there should be as many waiting messages as waiting
 * jobs. Any message serves any job (claimJob), so it doesn't matter whose message was lost: the relay sends as many as are missing, for the
 * jobs whose message was sent the longest ago. The counts of SQS are approximate: if one is too low, there are too many messages until the
 * queue is empty; if one is too high, the next count corrects it.
 */
async function countLostMessages(db: Database, sqs: SqsClient, queue: Queue): Promise<number> {
  const present = await queueDepth(sqs, queue);
  const waiting = await countWaiting(db, jobSubject, { limit: present + MAX_LOST });
  return Math.max(0, waiting - present);
}
