import {
  claimJobs,
  findOverdueJobs,
  findUndispatchedJobs,
  settleJobs,
  type DueJob,
} from '@pasteflow/postgres';
import { createQueue, deadLetterQueueName, decodeJob, sendJobs } from '@pasteflow/sqs';
import { dueBy } from './due.ts';
import type { JobEvents } from './job-events.ts';
import type { WorkOptions } from './uploads.ts';
import type { Claim, Work } from './work.ts';

export function jobWork({
  db,
  sqs,
  queueName,
  policy,
  events,
}: WorkOptions & { readonly events: JobEvents }): Work {
  const queue = createQueue(sqs, queueName);
  const toDue = (jobs: readonly DueJob[]) =>
    dueBy(db, jobs, (batch) =>
      sendJobs(
        sqs,
        queue,
        batch.map((job) => ({ ...job, context: {} })),
      ),
    );
  return {
    kind: 'job',
    queue,
    deadLetters: createQueue(sqs, deadLetterQueueName(queueName)),
    policy,
    findUndispatched: async (options) => toDue(await findUndispatchedJobs(db, options)),
    findOverdue: async (options) => toDue(await findOverdueJobs(db, options)),
    subjectOf: (body) => decodeJob(body).jobId,
    claim: async (jobIds, by) => {
      const claims = await claimJobs(db, { jobIds, ...by });
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
