import {
  claimExpired,
  defaultTimeBounds,
  pauseKind,
  readStoredUsage,
  requestDeletion,
  resumeKind,
} from '@pasteflow/postgres';
import { makeJobs, makePastes, stepClockBack } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createRelay } from '../src/sweeps/relay.ts';
import { createRescueStranded } from '../src/sweeps/rescue-stranded.ts';
import { drain } from './messages.ts';
import { useWorld, JOBS, running, UPLOADS } from './world.ts';

const world = useWorld();

const rescuer = (actor = 'janitor/test', countsOlder = false) =>
  createRescueStranded({
    ...world,
    db: world.janitorDb,
    actor,
    random: () => 0.5,
    quotas: countsOlder
      ? { maxPastes: 1, maxBytes: null, maxStoredPastes: null, maxStoredBytes: null }
      : null,
    bounds: defaultTimeBounds,
    logger: world.log,
  });
const relay = () => createRelay({ ...world, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 });
const abandoned = { status: 'RUNNING', leaseSeconds: 6 } as const;
const pastes = (count: number) =>
  makePastes(world.db, count, { status: 'IN_PROGRESS', execution: abandoned });
const jobs = (count: number, losses = 0) =>
  makeJobs(world.db, count, {
    userId: world.userId,
    status: 'processing',
    execution: { ...abandoned, losses },
  });

const endByHand = () =>
  sql`UPDATE task_executions SET status = 'FAILED', error = 'ended by hand', finished_at = now(), lease_expires_at = NULL
    WHERE status = 'RUNNING'`.execute(world.db);
const makeDue = () =>
  sql`UPDATE task_executions SET run_at = now() - interval '1 minute' WHERE status = 'PENDING'`.execute(
    world.db,
  );

describe('rescue-stranded', () => {
  it('gives stranded pastes and jobs an execution, whose message the relay sends', async () => {
    const [paste] = await pastes(1);
    const [job] = await jobs(1);
    expect(await rescuer().runOnce(running())).toEqual({ rescued: 0, given_up: 0, outrun: 0, reset: 0 });
    await endByHand();
    expect(await rescuer().runOnce(running())).toEqual({ rescued: 2, given_up: 0, outrun: 0, reset: 0 });
    await makeDue();
    expect(await relay().runOnce(running())).toMatchObject({ sent: 2 });
    expect(await drain(world, UPLOADS)).toEqual([expect.stringContaining(paste!.shortCode)]);
    expect(await drain(world, JOBS)).toEqual([expect.stringContaining(job!.id)]);
    expect(world.log.lines).toContainEqual(
      expect.objectContaining({
        message: 'upload attempt failed',
        fields: expect.objectContaining({
          short_code: paste!.shortCode,
          outcome: 'lost',
          reason: 'stranded: no open execution; the last one ended FAILED: ended by hand',
        }),
      }),
    );
  });

  it('counts the pastes from before the quotas, where there are quotas', async () => {
    await makePastes(world.db, 3, { status: 'PROCESSED', userId: world.userId });
    await rescuer().runOnce(running());
    expect(await readStoredUsage(world.db, world.userId)).toEqual({ pastes: 0, bytes: 0 });
    const counting = rescuer('janitor/test', true);
    for (let runs = 0; runs < 3; runs += 1) await counting.runOnce(running());
    expect(await readStoredUsage(world.db, world.userId)).toEqual({ pastes: 3, bytes: 45 });
  });

  it('rescues also when the pastes from before the quotas cannot be counted', async () => {
    await pastes(1);
    await endByHand();
    await sql`ALTER TABLE pastes ADD CONSTRAINT uncounted CHECK (NOT counted)`.execute(world.db);
    try {
      const sweep = rescuer('janitor/test', true);
      expect(await sweep.runOnce(running())).toMatchObject({ rescued: 1 });
      expect(sweep.refused.list()).toMatchObject([{ error: expect.stringContaining('uncounted') }]);
    } finally {
      await sql`ALTER TABLE pastes DROP CONSTRAINT uncounted`.execute(world.db);
    }
    expect(await rescuer().runOnce(running())).toMatchObject({ rescued: 0 });
  });

  it('rescues more than a batch in one run, once, with two janitors at a time without the sweep lock', async () => {
    await pastes(1200);
    await endByHand();
    const counts = await Promise.all(['a', 'b'].map((name) => rescuer(`janitor/${name}`).runOnce(running())));
    expect(counts[0]!.rescued! + counts[1]!.rescued!).toBe(1200);
    const { rows } = await sql`SELECT FROM task_executions WHERE status = 'PENDING'`.execute(world.db);
    expect(rows).toHaveLength(1200);
  });

  it('ends jobs that were lost too often', async () => {
    await jobs(2, 5);
    await endByHand();
    expect(await rescuer().runOnce(running())).toEqual({ rescued: 0, given_up: 2, outrun: 0, reset: 0 });
    expect(await world.db.selectFrom('jobs').select('status').execute()).toEqual([
      { status: 'failed' },
      { status: 'failed' },
    ]);
  });

  it('finds a paste that lost its payload, too, in its walk through the table', async () => {
    await pastes(1);
    await endByHand();
    await sql`DELETE FROM paste_payloads`.execute(world.db);
    const sweep = rescuer();
    expect(await sweep.runOnce(running())).toMatchObject({ rescued: 1 });
    expect(await sweep.runOnce(running())).toMatchObject({ rescued: 0 });
  });
});

describe('after the clock of Postgres was ahead for ten minutes', () => {
  const AHEAD = 600;
  const due = () =>
    sql<{ due: boolean; unsent: boolean; leased: boolean }>`
      SELECT run_at <= now() AS due, dispatched_at IS NULL AS unsent, coalesce(lease_expires_at <= now() + interval '6 seconds', true) AS leased
      FROM task_executions`.execute(world.db);

  it('lets waiting uploads and jobs run, and sends their messages again', async () => {
    const pending = { status: 'PENDING', dueSecondsAgo: 1, dispatchedSecondsAgo: 1 } as const;
    await makePastes(world.db, 3, { status: 'IN_PROGRESS', execution: pending });
    await makeJobs(world.db, 2, { userId: world.userId, status: 'queued', execution: pending });
    await stepClockBack(world.db, AHEAD);
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 5 });
    expect((await due()).rows).toEqual(Array(5).fill({ due: true, unsent: true, leased: true }));
    await makeDue();
    expect(await relay().runOnce(running())).toMatchObject({ sent: 5 });
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 0 });
  });

  it('leaves alone what waits for its time, however long that is', async () => {
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', losses: 9, dueSecondsAgo: -59 },
    });
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 0 });
  });

  it('lets the leases of crashed workers expire', async () => {
    await pastes(2);
    await jobs(1);
    await stepClockBack(world.db, AHEAD);
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 3 });
    expect((await due()).rows.every(({ leased }) => leased)).toBe(true);
  });

  it('deletes what was to be deleted', async () => {
    const stored = { status: 'PROCESSED' } as const;
    const [paste] = await makePastes(world.db, 1, stored);
    await makePastes(world.db, 1, { ...stored, deletion: { status: 'DELETION_IN_PROGRESS', secondsAgo: 1 } });
    await requestDeletion(world.db, paste!.id);
    await stepClockBack(world.db, AHEAD);
    expect(await rescuer().runOnce(running())).toMatchObject({ reset: 2 });
    expect(await claimExpired(world.janitorDb, { actor: 'janitor/test', limit: 10 })).toMatchObject([
      { id: paste!.id },
    ]);
    const { rows } = await sql`SELECT FROM pastes WHERE deletion_initiated_at > now()`.execute(world.db);
    expect(rows).toEqual([]);
  });

  it('sends lost messages again although a pause ended in the future', async () => {
    await pauseKind(world.db, 'uploads', { actor: 'ops/test', reason: 'a test' });
    await resumeKind(world.db, 'uploads');
    await stepClockBack(world.db, AHEAD);
    await makePastes(world.db, 1, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 60, dispatchedSecondsAgo: 60 },
    });
    expect(await relay().runOnce(running())).toMatchObject({ resent: 1 });
  });
});
