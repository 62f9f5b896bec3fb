import { randomBytes, randomUUID } from 'node:crypto';
import { claimIdempotencyKey, eraseUser, recordSweepRun } from '@pasteflow/postgres';
import { makeJobs, makePastes, makeUsers, refuseRow } from '@pasteflow/postgres/testing';
import { Metrics } from '@pasteflow/runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { runOpsCommand } from '../src/operations/commands/run-ops-command.ts';
import { RefusedRows } from '../src/sweeps/running/refused-rows.ts';
import { SweepRunner } from '../src/sweeps/running/sweep-runner.ts';
import type { Sweep } from '../src/sweeps/running/sweep.ts';
import { createCleanup, createDeletionWatchdog } from '../src/sweeps/cleanup.ts';
import { createDeadLetters } from '../src/sweeps/dead-letters.ts';
import { createErasures } from '../src/sweeps/erasures.ts';
import { createJobs } from '../src/sweeps/jobs.ts';
import { createMeasure } from '../src/sweeps/measure.ts';
import { createReapExecutions } from '../src/sweeps/reap-executions.ts';
import { createRelay } from '../src/sweeps/relay.ts';
import { createRescueStranded } from '../src/sweeps/rescue-stranded.ts';
import { createTombstones, createFailedPastes, createExpiredKeys } from '../src/sweeps/old-rows.ts';
import { defaultTimeBounds } from '@pasteflow/postgres';
import { DeadLetterAges } from '../src/sweeps/running/findings.ts';
import { sendRaw } from './messages.ts';
import { createWorld, deletionStates, running, UPLOADS, type World } from './world.ts';

let world: World;
let allow: (() => Promise<void>) | null = null;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());
afterEach(async () => {
  await allow?.();
  allow = null;
});

const DAY = 86_400;
const COUNT = 12;

const withDb = () => ({
  ...world,
  db: world.janitorDb,
  actor: 'janitor/test',
  logger: world.log,
  random: () => 0.5,
});
const refuse = async (table: string, where: string, sqlstate?: string, on?: string) =>
  (allow = await refuseRow(world.db, { table, where, ...(on === undefined ? {} : { on }) }, sqlstate));
const expired = { status: 'PROCESSED', createdSecondsAgo: 3600, expiresInSeconds: -60 } as const;
const zombies = () =>
  makePastes(world.db, COUNT, { status: 'IN_PROGRESS', execution: { status: 'RUNNING', leaseSeconds: -5 } });
const reap = () => createReapExecutions(withDb());
const cleanup = () => createCleanup(withDb());

/** Each sweep, with a dozen rows of which one is refused, and the count that must be one less. */
const sweeps: Readonly<Record<string, () => Promise<readonly [Sweep, Record<string, number>]>>> = {
  relay: async () => {
    const pastes = await makePastes(world.db, COUNT, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 10 },
    });
    await refuse('task_executions', `OLD.id = '${pastes[5]!.executionId}'`);
    return [
      createRelay({ ...withDb(), relayGraceSeconds: 1, relayRedispatchAfterSeconds: 30 }),
      { sent: COUNT },
    ];
  },
  'reap-executions': async () => {
    await refuse('task_executions', `OLD.id = '${(await zombies())[5]!.executionId}'`);
    return [reap(), { lost: COUNT - 1 }];
  },
  'rescue-stranded': async () => {
    const pastes = await zombies();
    await sql`DELETE FROM task_executions`.execute(world.db);
    await sql`CREATE FUNCTION refuse_insert() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused by the test' USING ERRCODE = 'XX001'; END $$`.execute(world.db);
    await sql`CREATE TRIGGER refuse_insert BEFORE INSERT ON task_executions FOR EACH ROW
      WHEN (NEW.subject_id = ${sql.lit(pastes[5]!.id)}) EXECUTE FUNCTION refuse_insert()`.execute(world.db);
    allow = async () => void (await sql`DROP FUNCTION refuse_insert CASCADE`.execute(world.db));
    return [
      createRescueStranded({ ...withDb(), bounds: defaultTimeBounds, quotas: null }),
      { rescued: COUNT - 1 },
    ];
  },
  cleanup: async () => {
    await refuse('pastes', `OLD.id = '${(await makePastes(world.db, COUNT, expired))[5]!.id}'`);
    return [cleanup(), { deleted: COUNT - 1 }];
  },
  'cleanup of revealed pastes': async () => {
    const deletion = { status: 'DELETION_IN_PROGRESS', secondsAgo: 1000 } as const;
    const pastes = await makePastes(world.db, COUNT, { status: 'PROCESSED', burn: true, deletion });
    await sql`UPDATE pastes SET burned_at = deletion_initiated_at, deletion_requested_at = deletion_initiated_at`.execute(
      world.db,
    );
    await refuse('pastes', `OLD.id = '${pastes[5]!.id}'`);
    return [cleanup(), { deleted: COUNT - 1 }];
  },
  'deletion-watchdog': async () => {
    const deletion = { status: 'DELETION_IN_PROGRESS', secondsAgo: 8000 } as const;
    const pastes = await makePastes(world.db, COUNT, { ...expired, deletion });
    await refuse('pastes', `OLD.id = '${pastes[5]!.id}'`);
    return [createDeletionWatchdog({ ...withDb(), deletionStuckAfterSeconds: 7200 }), { reset: COUNT - 1 }];
  },
  erasures: async () => {
    const [user, other] = await makeUsers(world.db, 2);
    const pastes = await makePastes(world.db, COUNT, { status: 'PROCESSED', userId: user!.id });
    for (const { id } of [user!, other!]) await eraseUser(world.db, id);
    await refuse('pastes', `OLD.id = '${pastes[5]!.id}'`);
    return [createErasures(withDb()), { pastes: COUNT - 1, done: 1 }];
  },
  'failed-pastes': async () => {
    const pastes = await makePastes(world.db, COUNT, { status: 'FAILED', createdSecondsAgo: 2 * DAY });
    await refuse('pastes', `OLD.id = '${pastes[5]!.id}'`);
    return [createFailedPastes({ ...withDb(), failedRetentionSeconds: DAY }), { removed: COUNT - 1 }];
  },
  'dead-letters': async () => {
    const pastes = await makePastes(world.db, 8, {
      status: 'IN_PROGRESS',
      execution: { status: 'PENDING', dueSecondsAgo: 10, dispatchedSecondsAgo: 10 },
    });
    for (const { shortCode } of pastes)
      await sendRaw(world, `${UPLOADS}-dead-letters`, JSON.stringify({ shortCode }));
    await refuse('task_executions', `OLD.id = '${pastes[5]!.executionId}'`);
    return [
      createDeadLetters({ ...withDb(), leaseSeconds: 6, deadLetterAges: new DeadLetterAges() }),
      { failed: 7 },
    ];
  },
  jobs: async () => {
    const ended = { userId: world.userId, status: 'failed', createdSecondsAgo: 40 * DAY } as const;
    const jobs = await makeJobs(world.db, COUNT, ended);
    await sql`UPDATE jobs SET completed_at = created_at`.execute(world.db);
    await refuse('jobs', `OLD.id = '${jobs[5]!.id}'`);
    return [createJobs({ ...withDb(), jobRetentionSeconds: 30 * DAY }), { removed: COUNT - 1 }];
  },
  tombstones: async () => {
    const deletion = { status: 'DELETED', secondsAgo: 31 * DAY } as const;
    const gone = { status: 'PROCESSED', createdSecondsAgo: 32 * DAY, deletion } as const;
    await refuse('pastes', `OLD.id = '${(await makePastes(world.db, COUNT, gone))[5]!.id}'`);
    const retention = {
      tombstoneRetentionSeconds: 30 * DAY,
      jobRetentionSeconds: 30 * DAY,
      transitionRetentionSeconds: 90 * DAY,
    };
    return [createTombstones({ ...withDb(), ...retention }), { removed: COUNT - 1 }];
  },
  'expired-keys': async () => {
    const keyHash = randomBytes(32);
    for (const key of [randomBytes(32), keyHash, randomBytes(32)])
      await claimIdempotencyKey(world.db, {
        caller: 'address:192.0.2.1',
        keyHash: key,
        claimId: randomUUID(),
        fingerprint: key,
        holdSeconds: 1,
        retentionSeconds: DAY,
      });
    await sql`UPDATE idempotency_keys SET created_at = created_at - interval '2 days', claimed_until = now() - interval '1 day'`.execute(
      world.db,
    );
    await refuse('idempotency_keys', `OLD.key_hash = '\\x${keyHash.toString('hex')}'`);
    return [createExpiredKeys({ ...withDb(), idempotencyRetentionSeconds: DAY }), { keys: 2 }];
  },
  measure: async () => {
    await createMeasure({ db: world.janitorDb }).runOnce(running());
    for (let n = 0; n < 3; n += 1) await makePastes(world.db, 1, { status: 'PROCESSED' });
    await sql`INSERT INTO uncounted_transitions (machine, "from", "to", seconds) SELECT 'job', 'queued', 'processing', ARRAY[n] FROM generate_series(1, 4) n`.execute(
      world.db,
    );
    await refuse('uncounted_transitions', 'OLD.seconds = ARRAY[2::real]');
    return [createMeasure({ db: world.janitorDb }), {}];
  },
};

it.each(Object.keys(sweeps))(
  'one row that Postgres refuses does not stop %s, and is left out next time',
  async (name) => {
    const [sweep, counts] = await sweeps[name]!();
    expect(await sweep.runOnce(running())).toMatchObject(counts);
    expect(sweep.refused.list()).toEqual([
      expect.objectContaining({ failures: 1, error: expect.stringContaining('refused by the test') }),
    ]);
    await sweep.runOnce(running());
    expect(sweep.refused.list()).toMatchObject([{ failures: 1 }]);
  },
);

it('a deletion whose end is refused holds up no others', async () => {
  const pastes = await makePastes(world.db, COUNT, expired);
  await refuse(
    'pastes',
    `OLD.id = '${pastes[5]!.id}' AND NEW.deletion_status = 'DELETED'`,
    'XX001',
    'UPDATE',
  );
  expect(await cleanup().runOnce(running())).toMatchObject({ claimed: COUNT, deleted: COUNT - 1, lost: 1 });
  expect(await deletionStates(world)).toEqual({ DELETED: COUNT - 1, DELETION_IN_PROGRESS: 1 });
});

describe.each([
  ['full', '53100'],
  ['read only', '25006'],
])('when Postgres is %s', (_, sqlstate) => {
  it('a sweep fails at its first statement, and blames no row', async () => {
    await zombies();
    await refuse('task_executions', 'true', sqlstate);
    const sweep = reap();
    await expect(sweep.runOnce(running())).rejects.toThrow();
    expect(sweep.refused.list()).toEqual([]);
  });
});

it('a sweep fails when Postgres refuses all of many rows, and its next run reaches the rows behind them', async () => {
  const first = await makePastes(world.db, COUNT, {
    ...expired,
    createdSecondsAgo: 7200,
    expiresInSeconds: -600,
  });
  await makePastes(world.db, COUNT, expired);
  await refuse('pastes', `OLD.id IN (${first.map(({ id }) => `'${id}'`).join(', ')})`);
  const sweep = cleanup();
  await expect(sweep.runOnce(running())).rejects.toThrow('refused by the test');
  expect(await sweep.runOnce(running())).toMatchObject({ deleted: COUNT });
  expect(sweep.refused.list()).toHaveLength(COUNT);
});

it('the log, the metrics and ops status name the row', async () => {
  const [paste] = await zombies();
  await refuse('task_executions', `OLD.id = '${paste!.executionId}'`);
  const metrics = new Metrics('janitor', { process: false });
  const runner = new SweepRunner({
    db: world.janitorDb,
    actor: 'janitor/test',
    logger: world.log,
    metrics,
  });
  const sweep = reap();
  for (let runs = 0; runs < 2; runs += 1) await runner.run(sweep, running());
  const row = `task_executions ${paste!.executionId}`;
  expect(world.log.lines.filter(({ message }) => message.includes('refuses'))).toEqual([
    expect.objectContaining({
      fields: expect.objectContaining({
        sweep: 'reap-executions',
        count: 1,
        rows: [expect.objectContaining({ row })],
      }),
    }),
  ]);
  expect(await metrics.text()).toContain(
    `janitor_refused_rows{sweep="reap-executions",row="${row}",service="janitor"} 1`,
  );
  const { stdout } = await runOpsCommand(['status'], world.env);
  expect(stdout).toMatch(new RegExp(`^${row} +reap-executions +1 +.*refused by the test`, 'm'));
  await recordSweepRun(world.db, {
    sweep: 'reap-executions',
    outcome: 'done',
    seconds: 1,
    counts: {},
    janitor: 'a',
  });
  expect((await runOpsCommand(['status'], world.env)).stdout).not.toContain('REFUSED');
});

it('a refused row is tried ever more rarely, and forgotten once it is accepted', () => {
  let now = 0;
  const rows = new RefusedRows(() => now);
  const run = (isRefused: boolean): boolean => {
    rows.begin();
    const isTried = !rows.waiting('pastes').includes('a');
    if (isTried && isRefused) rows.of('pastes')('a', new Error('refused'));
    rows.end();
    return isTried;
  };
  const triedAt: number[] = [];
  for (; now < 4 * 3_600_000; now += 30_000) if (run(true)) triedAt.push(now / 60_000);
  expect(triedAt).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  now += 3_600_000;
  run(false);
  expect(rows.list()).toEqual([]);
});
