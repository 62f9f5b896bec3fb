import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { findJob, findStranded, jobSubject, rescueStranded } from '../../src/index.ts';
import { useDatabase } from '../support/database.ts';
import { runningJob } from '../support/jobs.ts';

const current = useDatabase();

it('a rescue that gives up a job does nothing when another rescue has given the job an execution meanwhile', async () => {
  const { jobId } = await runningJob(current.db);
  await sql`DELETE FROM task_executions`.execute(current.db);
  const found = await findStranded(current.db, jobSubject, 'oldest', 10);
  const rescue = (
    nextStep: { kind: 'retry'; attempt: 1; delayMs: 0 } | { kind: 'give_up'; reason: string },
  ) =>
    rescueStranded(
      current.db,
      jobSubject,
      found.map((stranded) => {
        const outcome = { kind: 'lost', error: stranded.reason } as const;
        return { stranded, ending: { executionId: jobId, outcome, nextStep, ending: null } };
      }),
      'janitor/test',
    );
  expect((await rescue({ kind: 'retry', attempt: 1, delayMs: 0 })).size).toBe(1);
  expect((await rescue({ kind: 'give_up', reason: 'lost too often' })).size).toBe(0);
  expect(await findJob(current.db, jobId)).toMatchObject({ status: 'processing' });
  expect((await rescue({ kind: 'retry', attempt: 1, delayMs: 0 })).size).toBe(0);
});
