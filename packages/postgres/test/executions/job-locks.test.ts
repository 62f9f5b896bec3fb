import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  cancelJob,
  claimExecutions,
  createAsset,
  importPastes,
  jobSubject,
  removeJobs,
  renewLeases,
  settleExecutions,
  stampDispatched,
  writeProgress,
  type ClaimedJob,
  type JobSettlement,
} from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { endingOf, entriesOf, newAsset, newJob, settlementOf } from '../support/jobs.ts';

const current = useDatabase();

/** A random number generator with a seed, so that each run makes the same choices. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const ignoreTaken = (error: unknown) => {
  if ((error as { code?: string }).code !== 'execution_taken') throw error;
};

it('concurrent statements for the same jobs, in random order, never deadlock and leave no job without an attempt', async () => {
  const JOBS = 20;
  const WORKERS = 10;
  const ROUNDS = 40;
  const { db } = current;
  const made = [];
  for (let n = 0; n < JOBS; n++) made.push(await newJob(db));
  const jobIds = made.map(({ id }) => id);
  const pending = made.map(({ executionId }) => executionId);
  const claimed: ClaimedJob[] = [];
  let position = 0;

  const work = async (worker: number): Promise<void> => {
    const roll = dice(worker + 1);
    const actor = `w${worker}`;
    /** The latest items, which are the most likely to be unchanged, in random order. */
    const some = <T>(items: readonly T[], count = JOBS): T[] =>
      items
        .slice(-count)
        .map((item) => ({ item, at: roll(1e6) }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item);
    const ids = () => some(claimed).map(({ executionId }) => executionId);
    const each = (write: (job: ClaimedJob) => Promise<unknown>) =>
      Promise.all(
        some(claimed)
          .slice(0, 4)
          .map((job) => write(job).catch(ignoreTaken)),
      );
    const settleAll = async (settlements: readonly JobSettlement[], onlyPastLease: boolean) => {
      const settled = await settleExecutions(db, jobSubject, settlements, {
        actor,
        onlyPastLease,
        dispatched: roll(2) === 0,
      });
      for (const { successorId } of settled.values()) if (successorId !== null) pending.push(successorId);
    };

    const steps: Record<string, () => Promise<unknown>> = {
      claim: async () => {
        const claims = await claimExecutions(db, jobSubject, {
          keys: some(jobIds),
          actor,
          leaseSeconds: 600,
        });
        for (const claim of claims.values()) if (claim.kind === 'claimed') claimed.push(claim.execution);
      },
      stamp: () => stampDispatched(db, some(pending)),
      settle: () =>
        settleAll(
          some(claimed).map((job) =>
            roll(100) === 0 ? endingOf(job) : settlementOf(job, { kind: 'interrupted' }),
          ),
          false,
        ),
      reap: async () => {
        await sql`UPDATE task_executions SET lease_expires_at = now() - interval '1 second'
          WHERE status = 'RUNNING' AND id = ${ids()[0] ?? null}`.execute(db);
        await settleAll(
          some(claimed).map((job) => settlementOf(job, { kind: 'interrupted' })),
          true,
        );
      },
      renew: () => renewLeases(db, ids(), 600),
      progress: () => each((job) => writeProgress(db, { ...job, percent: roll(100), message: actor })),
      asset: () => each((job) => createAsset(db, { executionId: job.executionId, asset: newAsset(job) })),
      import: () =>
        each((job) => importPastes(db, { ...job, entries: entriesOf(job, [position++, position++]) })),
      cancel: async () => {
        const [jobId = ''] = some(jobIds);
        if (roll(10) === 0) await cancelJob(db, { jobId, actor, by: 'its owner' });
      },
      remove: () =>
        removeJobs(
          db,
          some(jobIds).map((id) => ({ id, retriedAs: null })),
        ),
    };
    const names = Object.keys(steps);
    for (let round = 0; round < ROUNDS; round++) await steps[names[roll(names.length)]!]!();
  };

  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  const { rows } = await sql<{ stuck: number; twice: number }>`
    SELECT
      (SELECT count(*)::int FROM jobs j WHERE completed_at IS NULL AND NOT EXISTS (
        SELECT FROM task_executions e WHERE e.subject_id = j.id AND e.status IN ('PENDING', 'RUNNING'))) AS stuck,
      (SELECT count(*)::int FROM jobs j JOIN task_executions e ON e.subject_id = j.id
        WHERE completed_at IS NOT NULL AND e.status IN ('PENDING', 'RUNNING')) AS twice`.execute(db);
  expect(rows).toEqual([{ stuck: 0, twice: 0 }]);
  expect(claimed.length).toBeGreaterThan(5 * JOBS);
});
