import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { cancelJob, createJob, findJob, findStranded, jobSubject, rescueStranded } from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';
import { open, useDatabase } from '../support/database.ts';
import { claimJob, endingOf, failure, loss, makeDue, settle, settlementOf } from '../support/jobs.ts';
import { urlOfRole } from '../support/roles.ts';

const current = useDatabase();
const payload = { items: [{ content: 'secret' }] };

async function newJob(): Promise<string> {
  const [user] = await makeUsers(current.db, 1);
  const job = { userId: user!.id, jobType: 'import', parameters: { a: 1 }, payload };
  return (await createJob(current.db, job)).id;
}

async function readPayload(id: string): Promise<unknown> {
  const { rows } = await sql<{ payload: unknown }>`SELECT payload FROM jobs WHERE id = ${id}`.execute(
    current.db,
  );
  return rows[0]?.payload;
}

const ends: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  'the end of its work': async (id) => await settle(current.db, endingOf(await claimJob(current.db, id))),
  'its last failed attempt': async (id) => {
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await makeDue(current.db);
      await settle(current.db, settlementOf(await claimJob(current.db, id), failure));
    }
  },
  'the loss of its last worker': async (id) => {
    const settlement = settlementOf(await claimJob(current.db, id), loss);
    await settle(current.db, { ...settlement, nextStep: { kind: 'give_up', reason: 'six workers died' } });
  },
  'a cancel while it waits': (id) => cancelJob(current.db, { jobId: id, actor: 'api/a', by: 'its owner' }),
  'a cancel while it runs': async (id) => {
    await claimJob(current.db, id);
    await cancelJob(current.db, { jobId: id, actor: 'api/a', by: 'its owner' });
  },
  'a rescue that gives it up': async (id) => {
    await claimJob(current.db, id);
    await sql`DELETE FROM task_executions WHERE subject_id = ${id}`.execute(current.db);
    const [stranded] = await findStranded(current.db, jobSubject, { ids: [id] }, 1);
    const ending = {
      outcome: { kind: 'lost', error: stranded!.reason },
      ending: null,
      executionId: '00000000-0000-0000-0000-000000000000',
      nextStep: { kind: 'give_up', reason: 'no attempt is left' },
    } as const;
    await rescueStranded(current.db, jobSubject, [{ stranded: stranded!, ending }], 'janitor');
  },
};

describe('the content in the parameters of a job', () => {
  it.each(Object.keys(ends))('is deleted from its row by %s', async (end) => {
    const id = await newJob();
    expect(await readPayload(id)).toEqual(payload);
    await ends[end]!(id);
    expect((await findJob(current.db, id))!.completed_at).not.toBeNull();
    expect(await readPayload(id)).toBeNull();
  });

  it('is given to the worker that claims the job, at each attempt', async () => {
    const id = await newJob();
    const first = await claimJob(current.db, id);
    expect(first.parameters).toEqual({ a: 1, ...payload });
    await settle(current.db, settlementOf(first, failure));
    await makeDue(current.db);
    expect((await claimJob(current.db, id)).parameters).toEqual({ a: 1, ...payload });
  });

  it('is in no row that a view is made from, and neither the api nor the janitor may read it', async () => {
    const id = await newJob();
    const job = await findJob(current.db, id);
    expect(job).toMatchObject({ parameters: { a: 1 } });
    expect(JSON.stringify(job)).not.toContain('secret');
    for (const role of ['pasteflow_api', 'pasteflow_janitor'] as const) {
      const db = open(urlOfRole(current.url, role));
      try {
        await expect(sql`SELECT payload FROM jobs`.execute(db)).rejects.toMatchObject({ code: '42501' });
        expect(await findJob(db, id)).toMatchObject({ id });
      } finally {
        await db.destroy();
      }
    }
  });

  it('cannot stay when plain SQL ends the job', async () => {
    const id = await newJob();
    await claimJob(current.db, id);
    const end = sql`UPDATE jobs SET status = 'failed', completed_at = now() WHERE id = ${id}`;
    await expect(end.execute(current.db)).rejects.toMatchObject({ constraint: 'jobs_payload_until_end' });
  });
});
