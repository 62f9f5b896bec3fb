import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  addWorkKinds,
  claimExecutions,
  claimJob,
  createJob,
  findOverdue,
  findStuck,
  hasClaimableJob,
  listPausedKinds,
  listWorkKinds,
  pauseKind,
  resumeKind,
  settleExecutions,
  stampDispatched,
  uploadSubject,
} from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';
import { newPaste, useDatabase } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { makeDue } from '../support/jobs.ts';

const current = useDatabase({ fresh: 'database' });
const by = { actor: 'ops/ada', reason: 'S3 is being moved' };
const leaseSeconds = 6;

const claimUploads = (keys: readonly string[], actor = 'w', evenPaused = false) =>
  claimExecutions(current.db, uploadSubject, { keys, actor, leaseSeconds, evenPaused });

async function sentJob(jobType: string, userId: string) {
  const job = await createJob(current.db, { userId, jobType, parameters: {} });
  await stampDispatched(current.db, [job.executionId]);
  return job;
}

async function userWithKinds(): Promise<string> {
  await addWorkKinds(current.db, ['import', 'export']);
  const [user] = await makeUsers(current.db, 1);
  return user!.id;
}

describe('paused uploads', () => {
  it('are claimed by none of 20 concurrent workers, and by one of them after the resume', async () => {
    const { shortCode } = await newPaste(current.db);
    await pauseKind(current.db, 'uploads', by);
    const claim = () =>
      Promise.all(
        Array.from(
          { length: 20 },
          async (_, n) => (await claimUploads([shortCode], `w${n}`)).get(shortCode)!.kind,
        ),
      );
    expect(new Set(await claim())).toEqual(new Set(['paused']));
    await resumeKind(current.db, 'uploads');
    const kinds = await claim();
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
  });

  it('that run are settled, and their successors wait', async () => {
    const { shortCode } = await newPaste(current.db);
    const claim = (await claimUploads([shortCode])).get(shortCode)!;
    if (claim.kind !== 'claimed') throw new Error(claim.kind);
    const { executionId } = claim.execution;
    await pauseKind(current.db, 'uploads', by);
    expect((await claimUploads([shortCode])).get(shortCode)).toMatchObject({ kind: 'not_now' });
    const outcome = { kind: 'failed', error: '503' } as const;
    const nextStep = { kind: 'retry', attempt: 2, losses: 0, delayMs: 60_000 } as const;
    const settled = await settleExecutions(current.db, uploadSubject, [{ executionId, outcome, nextStep }], {
      actor: 'w',
      dispatched: true,
    });
    expect(settled.size).toBe(1);
    expect((await claimUploads([shortCode])).get(shortCode)).toMatchObject({ kind: 'not_now' });
    await makeDue(current.db);
    expect((await claimUploads([shortCode])).get(shortCode)).toEqual({ kind: 'paused' });
  });

  it('are claimed by the sweep that ends dead letters', async () => {
    const { shortCode } = await newPaste(current.db);
    await pauseKind(current.db, 'uploads', by);
    expect((await claimUploads([shortCode], 'janitor', true)).get(shortCode)!.kind).toBe('claimed');
  });

  it('are neither overdue nor stuck, also not at once after the resume', async () => {
    const { executionId } = await newPaste(current.db);
    await stampDispatched(current.db, [executionId]);
    await sql`UPDATE task_executions SET run_at = now() - interval '1 hour', dispatched_at = now() - interval '1 hour'`.execute(
      current.db,
    );
    const overdue = async () =>
      (await findOverdue(current.db, uploadSubject, { olderThanSeconds: 30, limit: 9 })).items.length;
    const stuck = async () =>
      (await findStuck(current.db, { limit: 9, deletionStuckAfterSeconds: 1 })).length;
    expect([await overdue(), await stuck()]).toEqual([1, 1]);
    await pauseKind(current.db, 'uploads', by);
    expect([await overdue(), await stuck()]).toEqual([0, 0]);
    await resumeKind(current.db, 'uploads');
    expect([await overdue(), await stuck()]).toEqual([0, 0]);
    await sql`UPDATE work_kinds SET resumed_at = now() - interval '61 seconds'`.execute(current.db);
    expect([await overdue(), await stuck()]).toEqual([1, 1]);
  });
});

describe('a paused type of jobs', () => {
  it('is passed over by every message, while other types are claimed in turn', async () => {
    const userId = await userWithKinds();
    const exports = [await sentJob('export', userId), await sentJob('export', userId)];
    const imported = await sentJob('import', userId);
    await pauseKind(current.db, 'export', by);
    const claim = (jobId: string, actor = 'w') => claimJob(current.db, { jobId, actor, leaseSeconds });
    expect(await hasClaimableJob(current.db)).toBe(true);
    expect(await claim(exports[0]!.id)).toMatchObject({
      kind: 'claimed',
      execution: { jobId: imported.id, jobType: 'import' },
    });
    expect(await hasClaimableJob(current.db)).toBe(false);
    const claims = await Promise.all(exports.map(({ id }, n) => claim(id, `w${n}`)));
    expect(claims).toEqual([{ kind: 'paused' }, { kind: 'paused' }]);
    await resumeKind(current.db, 'export');
    expect(await hasClaimableJob(current.db)).toBe(true);
    expect(await claim(exports[1]!.id)).toMatchObject({ execution: { jobId: exports[0]!.id } });
  });

  it('is not claimed by the message that arrives before its stamp', async () => {
    const userId = await userWithKinds();
    const { id } = await createJob(current.db, { userId, jobType: 'export', parameters: {} });
    await pauseKind(current.db, 'export', by);
    expect(await claimJob(current.db, { jobId: id, actor: 'w', leaseSeconds })).toEqual({ kind: 'paused' });
  });

  it('keeps the message of an ended job for a job that waits for the resume', async () => {
    const userId = await userWithKinds();
    const ended = await sentJob('import', userId);
    await sql`SELECT cancel_job(${ended.id}, 'w', 'because')`.execute(current.db);
    const claim = () => claimJob(current.db, { jobId: ended.id, actor: 'w', leaseSeconds });
    await pauseKind(current.db, 'export', by);
    expect(await claim()).toEqual({ kind: 'ended' });
    await sentJob('export', userId);
    expect(await claim()).toEqual({ kind: 'paused' });
  });

  it('is not stuck', async () => {
    const userId = await userWithKinds();
    await sentJob('export', userId);
    await sentJob('import', userId);
    await sql`UPDATE task_executions SET run_at = now() - interval '1 hour'`.execute(current.db);
    const stuck = async () =>
      (await findStuck(current.db, { limit: 9, deletionStuckAfterSeconds: 1 })).length;
    expect(await stuck()).toBe(2);
    await pauseKind(current.db, 'export', by);
    expect(await stuck()).toBe(1);
  });
});

describe('a pause', () => {
  it('is made by one of ten operators, and ended by one of ten', async () => {
    const ten = Array.from({ length: 10 }, (_, n) => `ops/${n}`);
    const paused = await Promise.all(ten.map((actor) => pauseKind(current.db, 'uploads', { ...by, actor })));
    expect(paused.filter(Boolean)).toHaveLength(1);
    expect(await listWorkKinds(current.db)).toEqual([
      {
        kind: 'uploads',
        paused_at: expect.any(Date),
        paused_by: ten[paused.indexOf(true)],
        pause_reason: by.reason,
        resumed_at: null,
      },
      expect.objectContaining({ kind: 'webhooks', paused_at: null }),
    ]);
    expect(await listPausedKinds(current.db)).toEqual(['uploads']);
    const resumed = await Promise.all(ten.map(() => resumeKind(current.db, 'uploads')));
    expect(resumed.filter(Boolean)).toHaveLength(1);
    expect(await listPausedKinds(current.db)).toEqual([]);
  });

  it('of an unknown kind is refused, and stays when a worker adds its kinds again', async () => {
    expect(await pauseKind(current.db, 'mail', by)).toBe(false);
    await addWorkKinds(current.db, ['mail']);
    expect(await pauseKind(current.db, 'mail', by)).toBe(true);
    await addWorkKinds(current.db, ['mail', 'import']);
    expect(await listPausedKinds(current.db)).toEqual(['mail']);
  });

  it('costs a claim one page without a pause, and two during one', async () => {
    const codes = [(await newPaste(current.db)).shortCode, (await newPaste(current.db)).shortCode];
    await addWorkKinds(
      current.db,
      Array.from({ length: 50 }, (_, n) => `kind-${n}`),
    );
    await sql`VACUUM (ANALYZE) work_kinds`.execute(current.db);
    const pages = async (evenPaused: boolean) =>
      (
        await explain(current.url, (db) =>
          claimExecutions(db, uploadSubject, { keys: codes, actor: 'w', leaseSeconds, evenPaused }),
        )
      ).buffers;
    expect((await pages(false)) - (await pages(true))).toBe(1);
    await pauseKind(current.db, 'kind-7', by);
    expect((await pages(false)) - (await pages(true))).toBeLessThanOrEqual(2);
  });
});
