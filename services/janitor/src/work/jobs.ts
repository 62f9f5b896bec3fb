import {
  claimJobs,
  countWaitingJobs,
  findOverdueJobs,
  findUndispatchedJobs,
  settleJobs,
  type DueJob,
} from '@pasteflow/postgres';
import { messageSpans } from '@pasteflow/runtime';
import {
  createQueue,
  deadLetterQueueName,
  decodeJob,
  queueDepth,
  sendFollowed,
  sendJobs,
  type OutgoingJob,
} from '@pasteflow/sqs';
import { dueBy } from './due.ts';
import type { JobEvents } from './job-events.ts';
import type { WorkOptions } from './uploads.ts';
import type { Claim, Work } from './work.ts';

/** Jobs that wait are counted up to so many more than there are messages: what else is lost, the next run finds. */
const MOST_LOST = 10_000;

export function jobWork({
  db,
  sqs,
  queueName,
  policy,
  events,
}: WorkOptions & { readonly events: JobEvents }): Work {
  const queue = createQueue(sqs, queueName);
  const follow = messageSpans<OutgoingJob>({ queueName, traces: 'following' });
  const toDue = (jobs: readonly DueJob[]) =>
    dueBy(db, jobs, (batch) =>
      sendFollowed(
        follow,
        batch.map((job) => ({ ...job, context: {} })),
        (messages) => sendJobs(sqs, queue, messages),
      ),
    );
  return {
    kind: 'job',
    queue,
    deadLetters: createQueue(sqs, deadLetterQueueName(queueName)),
    policy,
    findUndispatched: async (options) => toDue(await findUndispatchedJobs(db, options)),
    findOverdue: async (options) => toDue(await findOverdueJobs(db, options)),
    /*
     * Jobs may wait for hours behind others, so that age says nothing. But each that waits has a message that waits: as many as are short are
     * sent again, those first that were sent the longest ago. If that was still there, it counts until its copy is received, after one
     * round of the queue at the latest, and then what is lost has become the longest sent. So there are hardly more messages than jobs,
     * whatever happens; where SQS, which counts approximately, says too few, it is told so by the next count.
     */
    countLost: async () => {
      const present = await queueDepth(sqs, queue);
      const waiting = await countWaitingJobs(db, { most: present + MOST_LOST });
      return Math.max(0, waiting - present);
    },
    subjectOf: (body) => decodeJob(body).jobId,
    claim: async (jobIds, by) => {
      const claims = await claimJobs(db, { jobIds, ...by });
      for (const claim of claims.values()) if (claim.kind === 'claimed') events.attemptStarted(claim.job);
      return new Map(
        [...claims].map(([jobId, claim]): [string, Claim] => [
          jobId,
          claim.kind === 'claimed' ? { kind: 'claimed', ...claim.job } : claim,
        ]),
      );
    },
    settle: async (settlements, options) => {
      const settled = await settleJobs(
        db,
        settlements.map((settlement) => ({ ...settlement, ending: null })),
        { ...options, dispatched: false },
      );
      for (const { executionId, outcome } of settlements) {
        const job = settled.get(executionId);
        if (job !== undefined) events.attemptEnded(job, outcome);
      }
      const successors = [...settled.values()].flatMap(({ successorId, jobId }) =>
        successorId === null ? [] : [{ executionId: successorId, jobId }],
      );
      return { count: settled.size, successors: toDue(successors) };
    },
  };
}
