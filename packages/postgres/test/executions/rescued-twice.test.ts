import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { findJob, findStranded, jobSubject, rescueStranded } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { runningJob } from '../support/jobs.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

type NextStep = { kind: 'retry'; attempt: 1; delayMs: 0 } | { kind: 'give_up'; reason: string };

const retry = { kind: 'retry', attempt: 1, delayMs: 0 } as const;
const giveUp = { kind: 'give_up', reason: 'lost too often' } as const;

async function strandedJob() {
  const { jobId } = await runningJob(current.db);
  await sql`DELETE FROM task_executions`.execute(current.db);
  const found = await findStranded(current.db, jobSubject, 'oldest', 10);
  const rescue = (nextStep: NextStep, subject = jobSubject) =>
    rescueStranded(
      current.db,
      subject,
      found.map((stranded) => {
        const outcome = { kind: 'lost', error: stranded.reason } as const;
        return { stranded, ending: { executionId: jobId, outcome, nextStep, ending: null } };
      }),
      'janitor/test',
    );
  return { jobId, rescue };
}

it('a rescue that gives up a job does nothing when another rescue has given the job an execution meanwhile', async () => {
  const { jobId, rescue } = await strandedJob();
  expect((await rescue(retry)).size).toBe(1);
  expect((await rescue(giveUp)).size).toBe(0);
  expect(await findJob(current.db, jobId)).toMatchObject({ status: 'processing' });
  expect((await rescue(retry)).size).toBe(0);
});

it('a rescue that gives up a job sees an execution that another rescue has inserted since its own statement began', async () => {
  const { jobId, rescue } = await strandedJob();
  const pausing = await current.db.startTransaction().execute();
  await sql`SELECT pg_advisory_xact_lock(1)`.execute(pausing);
  // The statement waits for the advisory lock after it has taken its snapshot, and before it locks the job.
  const executionColumns = {
    user_id: sql`CASE WHEN pg_advisory_xact_lock(1) IS NOT NULL THEN subject.user_id END`,
  };
  const late = rescue(giveUp, { ...jobSubject, executionColumns });
  await untilSomebodyWaits(current.db);
  expect((await rescue(retry)).size).toBe(1);
  await pausing.commit().execute();
  expect((await late).size).toBe(0);
  expect(await findJob(current.db, jobId)).toMatchObject({ status: 'processing' });
});
