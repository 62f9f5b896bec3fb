import { decideNextStep, defaultRetryPolicy, MAX_JOB_LOSSES } from '@pasteflow/domain';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  claimExecutions,
  createJob,
  findStranded,
  findStuck,
  jobSubject,
  readStateFigures,
  rescueStranded,
  settleExecutions,
  uploadSubject,
  walkOpenPastes,
} from '../../src/index.ts';
import { lockRow, makeJobs, makePastes, makeUsers } from '../../src/testing/index.ts';
import { newPaste, open, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase();

/** What an operator could type into psql. Each is legal for the state machines. */
const byHand = {
  'ends the running execution': `UPDATE task_executions SET status = 'FAILED', error = 'ended by hand', finished_at = now(),
    lease_expires_at = NULL WHERE status = 'RUNNING'`,
  'ends the running execution as a success': `UPDATE task_executions SET status = 'SUCCEEDED', finished_at = now(),
    lease_expires_at = NULL WHERE status = 'RUNNING'`,
  'deletes the executions': 'DELETE FROM task_executions',
} as const;

async function runningPaste(shape: { readonly attempt?: number; readonly losses?: number } = {}) {
  const execution = { status: 'RUNNING', leaseSeconds: 600, ...shape } as const;
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS', execution });
  return paste!;
}

async function runningJob(losses = 0) {
  const [user] = await makeUsers(current.db, 1);
  const execution = { status: 'RUNNING', leaseSeconds: 600, losses } as const;
  const [job] = await makeJobs(current.db, 1, { userId: user!.id, status: 'processing', execution });
  return job!;
}

const type = (statement: string) => sql.raw(statement).execute(current.db);
const strandedUploads = () => findStranded(current.db, uploadSubject, 'oldest', 10);

async function rescueUploads(db = current.db, stranded?: Awaited<ReturnType<typeof strandedUploads>>) {
  const found = stranded ?? (await strandedUploads());
  const rescues = found.map((each) => {
    const outcome = { kind: 'lost', error: each.reason } as const;
    const nextStep = decideNextStep(outcome, each, defaultRetryPolicy, 0.5);
    return { stranded: each, ending: { executionId: each.subjectId, outcome, nextStep } };
  });
  return rescueStranded(db, uploadSubject, rescues, 'janitor/test');
}

async function rescueJobs() {
  const policy = { ...defaultRetryPolicy, maxLosses: MAX_JOB_LOSSES };
  const found = await findStranded(current.db, jobSubject, 'oldest', 10);
  const rescues = found.map((each) => {
    const outcome = { kind: 'lost', error: each.reason } as const;
    const nextStep = decideNextStep(outcome, each, policy, 0.5);
    return { stranded: each, ending: { executionId: each.subjectId, outcome, nextStep, ending: null } };
  });
  return rescueStranded(current.db, jobSubject, rescues, 'janitor/test');
}

const openExecutions = () =>
  current.db
    .selectFrom('task_executions')
    .select(['subject_id', 'attempt', 'losses', 'user_id', 'rescued_by', 'rescue_reason'])
    .where('status', 'in', ['PENDING', 'RUNNING'])
    .execute();

describe('a paste in progress without an open execution', () => {
  it.each(Object.keys(byHand) as (keyof typeof byHand)[])(
    'is found, named and rescued after somebody %s with psql',
    async (what) => {
      const paste = await runningPaste({ attempt: 3, losses: 1 });
      expect(await strandedUploads()).toEqual([]);
      await type(byHand[what]);
      const { kinds } = await readStateFigures(current.db);
      expect(kinds.map(({ stranded }) => stranded)).toEqual([1, 0, 0]);
      const stuck = await findStuck(current.db, { limit: 10, deletionStuckAfterSeconds: 7200 });
      expect(stuck).toMatchObject([{ what: 'stranded', kind: 'upload', subject: paste.shortCode }]);
      expect((await rescueUploads()).size).toBe(1);
      const known = what !== 'deletes the executions';
      expect(await openExecutions()).toEqual([
        {
          subject_id: paste.id,
          attempt: known ? 3 : 1,
          losses: known ? 2 : 1,
          user_id: null,
          rescued_by: 'janitor/test',
          rescue_reason: expect.stringContaining('no open execution'),
        },
      ]);
      expect(await strandedUploads()).toEqual([]);
    },
  );

  it('can be claimed and stored after its rescue', async () => {
    const { shortCode } = await runningPaste();
    await type(byHand['ends the running execution']);
    await rescueUploads();
    await type('UPDATE task_executions SET run_at = now()');
    const claims = await claimExecutions(current.db, uploadSubject, {
      keys: [shortCode],
      actor: 'w',
      leaseSeconds: 6,
    });
    const claim = claims.get(shortCode);
    if (claim?.kind !== 'claimed') throw new Error(`the claim is ${claim?.kind}`);
    const stored = { kind: 'succeeded', s3Url: 's3://b/k' } as const;
    const settlement = {
      executionId: claim.execution.executionId,
      outcome: stored,
      nextStep: { kind: 'done' },
    } as const;
    const settled = await settleExecutions(current.db, uploadSubject, [settlement], {
      actor: 'w',
      dispatched: true,
    });
    expect([...settled.values()]).toMatchObject([{ status: 'PROCESSED' }]);
  });

  it('is found by the walk through the table when its payload is gone, too', async () => {
    const { id } = await runningPaste();
    await makePastes(current.db, 3, { status: 'PROCESSED' });
    await type(`${byHand['ends the running execution']}; DELETE FROM paste_payloads`);
    expect(await strandedUploads()).toEqual([]);
    const open: string[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < 3; pages += 1) {
      const walked = await walkOpenPastes(current.db, { after, limit: 2 });
      open.push(...walked.open);
      after = walked.last;
    }
    expect(after).toBeNull();
    expect(open).toEqual([id]);
    const stranded = await findStranded(current.db, uploadSubject, { ids: open }, 10);
    expect((await rescueUploads(current.db, stranded)).size).toBe(1);
    expect(await openExecutions()).toMatchObject([{ subject_id: id }]);
  });

  it('is rescued once by eight rescues at a time', async () => {
    for (let n = 0; n < 20; n += 1) await newPaste(current.db);
    await type('DELETE FROM task_executions');
    const found = await findStranded(current.db, uploadSubject, 'oldest', 100);
    const rescued = await Promise.all(Array.from({ length: 8 }, () => rescueUploads(current.db, found)));
    expect(rescued.reduce((sum, { size }) => sum + size, 0)).toBe(20);
    expect(await openExecutions()).toHaveLength(20);
  });

  it('is left to the next run while its row is locked, and the others are rescued', async () => {
    const { id } = await newPaste(current.db);
    await newPaste(current.db);
    await type('DELETE FROM task_executions');
    const release = await lockRow(current.db, 'pastes', id);
    const impatient = open(current.url, 1, 60_000);
    try {
      expect([...(await rescueUploads(impatient)).keys()]).not.toContain(id);
      expect(await openExecutions()).toHaveLength(1);
    } finally {
      await release();
      await impatient.destroy();
    }
    expect([...(await rescueUploads()).keys()]).toEqual([id]);
  });

  it('gets no execution from a rescue that is late', async () => {
    const { shortCode } = await newPaste(current.db);
    await type('DELETE FROM task_executions');
    const late = await strandedUploads();
    await rescueUploads(current.db, late);
    await type('UPDATE task_executions SET run_at = now()');
    expect((await rescueUploads(current.db, late)).size).toBe(0);
    await claimExecutions(current.db, uploadSubject, { keys: [shortCode], actor: 'w', leaseSeconds: 6 });
    expect((await rescueUploads(current.db, late)).size).toBe(0);
    expect(await openExecutions()).toHaveLength(1);
  });
});

describe('the search for stranded pastes', () => {
  it('finds no paste that has reached its end, also when it is named', async () => {
    const pastes = [
      ...(await makePastes(current.db, 1, { status: 'PROCESSED' })),
      ...(await makePastes(current.db, 1, { status: 'FAILED' })),
    ];
    const ids = pastes.map(({ id }) => id);
    expect(await findStranded(current.db, uploadSubject, { ids }, 10)).toEqual([]);
  });

  it('reads the last execution of the upload, and none of a job with the same id', async () => {
    const { id } = await runningPaste();
    await type(byHand['ends the running execution']);
    await sql`INSERT INTO task_executions (kind, subject_id, attempt, losses) VALUES ('upload', ${id}, 2, 1)`.execute(
      current.db,
    );
    await type(
      `UPDATE task_executions SET status = 'RUNNING', worker_id = 'x', started_at = now(), lease_expires_at = now() WHERE status = 'PENDING'`,
    );
    await type(byHand['ends the running execution']);
    await sql`INSERT INTO task_executions (kind, subject_id, attempt) VALUES ('job', ${id}, 5)`.execute(
      current.db,
    );
    expect(await strandedUploads()).toMatchObject([{ subjectId: id, attempt: 2, losses: 1 }]);
  });

  it('stops at its limit', async () => {
    await makePastes(current.db, 3, { status: 'IN_PROGRESS' });
    await type('DELETE FROM task_executions');
    expect(await findStranded(current.db, uploadSubject, 'oldest', 2)).toHaveLength(2);
  });
});

describe('the rescue of pastes that somebody changes with psql meanwhile', () => {
  it('gives no execution to a paste that has reached its end', async () => {
    await newPaste(current.db);
    await type('DELETE FROM task_executions');
    const found = await strandedUploads();
    await type(`UPDATE pastes SET status = 'PROCESSED', s3_url = 's3://b/k', processed_at = now()`);
    expect((await rescueUploads(current.db, found)).size).toBe(0);
    expect(await openExecutions()).toEqual([]);
  });

  it('leaves a paste to an execution that is inserted at the same time, and goes on with the others', async () => {
    const { id } = await newPaste(current.db);
    const other = await newPaste(current.db);
    await type('DELETE FROM task_executions');
    const found = await strandedUploads();
    const inserting = await current.db.startTransaction().execute();
    await sql`INSERT INTO task_executions (kind, subject_id, attempt) VALUES ('upload', ${id}, 1)`.execute(
      inserting,
    );
    const rescuing = rescueUploads(current.db, found);
    await untilSomebodyWaits(current.db);
    await inserting.commit().execute();
    expect([...(await rescuing).keys()]).toEqual([other.id]);
    expect(await openExecutions()).toHaveLength(2);
  });
});

describe('a job that is not at its end and has no open execution', () => {
  it('is rescued, for its owner', async () => {
    const job = await runningJob(2);
    await type(byHand['ends the running execution']);
    expect((await readStateFigures(current.db)).kinds.map(({ stranded }) => stranded)).toEqual([0, 1, 0]);
    expect((await rescueJobs()).size).toBe(1);
    const [user] = await current.db.selectFrom('users').select('id').execute();
    expect(await openExecutions()).toMatchObject([
      { subject_id: job.id, attempt: 1, losses: 3, user_id: user!.id, rescued_by: 'janitor/test' },
    ]);
  });

  it('ends as failed when it has been lost too often, with the actor and the reason in the audit trail', async () => {
    const job = await runningJob(MAX_JOB_LOSSES - 1);
    await type(byHand['ends the running execution']);
    expect([...(await rescueJobs()).values()]).toMatchObject([{ successorId: null, status: 'failed' }]);
    expect(await openExecutions()).toEqual([]);
    const trail = await current.db
      .selectFrom('state_transitions')
      .select(['to', 'actor', 'reason'])
      .where('entity', '=', job.id)
      .orderBy('id', 'desc')
      .limit(1)
      .execute();
    expect(trail).toEqual([
      {
        to: 'failed',
        actor: 'janitor/test',
        reason: 'lost too often: lost 6 times; the last: stranded',
      },
    ]);
  });

  it('is rescued however often it was lost, while it was never begun', async () => {
    const [user] = await makeUsers(current.db, 1);
    const { id } = await createJob(current.db, { userId: user!.id, jobType: 'import', parameters: {} });
    await type(
      `UPDATE task_executions SET losses = 9, status = 'RUNNING', worker_id = 'x', started_at = now(), lease_expires_at = now()`,
    );
    await type(byHand['ends the running execution']);
    expect((await rescueJobs()).get(id)).toMatchObject({ successorId: expect.any(String) });
  });
});

it('finds nothing that goes on by itself', async () => {
  await newPaste(current.db);
  await runningPaste();
  await runningJob();
  await makePastes(current.db, 2, { status: 'PROCESSED' });
  await makePastes(current.db, 2, { status: 'FAILED' });
  expect(await strandedUploads()).toEqual([]);
  expect(await findStranded(current.db, jobSubject, 'oldest', 10)).toEqual([]);
  expect((await readStateFigures(current.db)).kinds.map(({ stranded }) => stranded)).toEqual([0, 0, 0]);
});
