import { lockRow, makeJobs, makePastes } from '@pasteflow/postgres/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createReapExecutions } from '../src/sweeps/reap-executions.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { drain } from './messages.ts';
import { useWorld, JOBS, running, UPLOADS } from './world.ts';

const world = useWorld();

/** More than a batch of the relay or the reaper. */
const BROKEN = 600;

const relay = () => createRelay({ ...world, relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 });
const reaper = () =>
  createReapExecutions({ ...world, actor: 'janitor/test', random: () => 0.5, logger: world.log });

/**
 * Inserts open executions, as an operator could, for subjects that a SELECT names. They are more urgent than
 * any other work.
 */
async function insertBroken(
  kind: 'upload' | 'job',
  subjects = sql`SELECT gen_random_uuid() AS id FROM generate_series(1, ${BROKEN}::integer)`,
) {
  await sql`
    INSERT INTO task_executions (kind, subject_id, attempt, run_at, created_at)
    SELECT ${kind}, id, 1, now() - interval '1 day', now() - interval '1 day' FROM (${subjects}) AS subject`.execute(
    world.db,
  );
}

const makeOverdue = () =>
  sql`UPDATE task_executions SET dispatched_at = now() - interval '1 day' WHERE status = 'PENDING' AND dispatched_at IS NULL`.execute(
    world.db,
  );
const makeZombies = () =>
  sql`UPDATE task_executions SET status = 'RUNNING', worker_id = 'upload-worker/dead', started_at = now(),
    lease_expires_at = now() - interval '1 day' WHERE status = 'PENDING'`.execute(world.db);

async function openExecutions(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer FROM task_executions WHERE status IN ('PENDING', 'RUNNING')`.execute(world.db);
  return rows[0]!.count;
}

const waiting = { status: 'PENDING', dueSecondsAgo: 60 } as const;
const lost = { status: 'PENDING', dueSecondsAgo: 60, dispatchedSecondsAgo: 60 } as const;
const abandoned = { status: 'RUNNING', leaseSeconds: -1 } as const;

describe('600 open executions without a paste', () => {
  it('do not keep the relay from sending the messages of others, and are removed', async () => {
    await insertBroken('upload');
    const [paste] = await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: waiting });
    expect(await relay().runOnce(running())).toMatchObject({ sent: 1 });
    expect(await drain(world, UPLOADS)).toEqual([expect.stringContaining(paste!.shortCode)]);
    expect(await openExecutions()).toBe(1);
    expect(world.log.lines).toMatchObject([
      { level: 'warn', message: 'executions without a paste removed', fields: { count: 500 } },
      { level: 'warn', message: 'executions without a paste removed', fields: { count: 100 } },
    ]);
  });

  it('do not keep the relay from sending lost messages again', async () => {
    await insertBroken('upload');
    await makeOverdue();
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: lost });
    expect(await relay().runOnce(running())).toMatchObject({ resent: 1 });
    expect(await openExecutions()).toBe(1);
  });

  it('do not keep the reaper from ending the zombies of others', async () => {
    await insertBroken('upload');
    await makeZombies();
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: abandoned });
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, rescued: 1 });
    expect(await openExecutions()).toBe(1);
  });

  it('hold up nobody while some of them are locked', async () => {
    await insertBroken('upload');
    const { rows } = await sql<{ id: string }>`SELECT id FROM task_executions LIMIT 1`.execute(world.db);
    const release = await lockRow(world.db, 'task_executions', rows[0]!.id);
    try {
      await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: waiting });
      expect(await relay().runOnce(running())).toMatchObject({ sent: 1 });
      expect(await openExecutions()).toBe(2);
    } finally {
      await release();
    }
    await relay().runOnce(running());
    expect(await openExecutions()).toBe(1);
  });
});

describe('600 open executions without a job', () => {
  const makeJob = (execution: typeof waiting | typeof lost) =>
    makeJobs(world.db, 1, { userId: world.userId, status: 'queued', execution });

  it('do not keep the relay from sending the messages of others, and are removed', async () => {
    await insertBroken('job');
    const [job] = await makeJob(waiting);
    expect(await relay().runOnce(running())).toMatchObject({ sent: 1 });
    expect(await drain(world, JOBS)).toEqual([expect.stringContaining(job!.id)]);
    expect(await openExecutions()).toBe(1);
  });

  it('do not count as jobs that wait for a message', async () => {
    await insertBroken('job');
    await makeOverdue();
    await makeJob(lost);
    expect(await relay().runOnce(running())).toMatchObject({ resent: 1 });
    expect(await openExecutions()).toBe(1);
  });

  it('do not keep the reaper from ending the zombies of others', async () => {
    await insertBroken('job');
    await makeZombies();
    await makeJobs(world.db, 1, { userId: world.userId, status: 'processing', execution: abandoned });
    expect(await reaper().runOnce(running())).toMatchObject({ lost: 1, rescued: 1 });
    expect(await openExecutions()).toBe(1);
  });
});

describe.each([
  ['stored', { status: 'PROCESSED' }],
  ['deleted', { status: 'PROCESSED', expiresInSeconds: -1, deletion: { status: 'DELETED', secondsAgo: 60 } }],
] as const)('600 open executions of pastes that are %s', (_, shape) => {
  beforeEach(async () => {
    await makePastes(world.db, BROKEN, shape);
    await insertBroken('upload', sql`SELECT id FROM pastes`);
  });

  it('do not keep the relay from sending the messages of others', async () => {
    const [paste] = await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: waiting });
    expect(await relay().runOnce(running())).toMatchObject({ sent: BROKEN + 1 });
    expect((await drain(world, UPLOADS)).filter((body) => body.includes(paste!.shortCode))).toHaveLength(1);
  });

  it('do not keep the reaper from ending the zombies of others', async () => {
    await makeZombies();
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', execution: abandoned });
    expect(await reaper().runOnce(running())).toMatchObject({ lost: BROKEN + 1 });
  });
});
