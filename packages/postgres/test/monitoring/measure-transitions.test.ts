import { expect, it } from '@jest/globals';
import { machines, transitionsOf, type Machine } from '@pasteflow/domain';
import { sql } from 'kysely';
import {
  claimExecutions,
  measureTransitions,
  readTransitionStatistics,
  readUncountedSeconds,
  settleExecutions,
  stateDurationBounds,
  uploadSubject,
  type CountedTransitions,
  type Database,
  type TransitionStatistic,
} from '../../src/index.ts';
import { makeJobs, makePastes, makeUsers, rewriteTrail } from '../../src/testing/index.ts';
import { newPaste, useOwnServer } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useOwnServer();

const measureAll = async (limit = 1000): Promise<number> => {
  for (let sum = 0; ;) {
    const { rows, transitions } = await measureTransitions(current.db, { limit });
    sum += transitions;
    if (rows < limit) return sum;
  }
};

/** By `machine from to`, without transitions that never happened. */
async function counts(db: Database = current.db): Promise<Record<string, number>> {
  const statistics = await readTransitionStatistics(db);
  return Object.fromEntries(
    statistics
      .filter(({ count }) => count > 0)
      .map(({ machine, from, to, count }) => [`${machine} ${from} ${to}`, count]),
  );
}

async function countedBySql(): Promise<Record<string, number>> {
  const { rows } = await sql<{ step: string; count: number }>`
    SELECT machine || ' ' || "from" || ' ' || "to" AS step, count(*)::integer AS count FROM state_transitions GROUP BY 1`.execute(
    current.db,
  );
  return Object.fromEntries(rows.map(({ step, count }) => [step, count]));
}

async function upload(pastes: number): Promise<void> {
  const shortCodes: string[] = [];
  for (let n = 0; n < pastes; n++) shortCodes.push((await newPaste(current.db)).shortCode);
  const claims = await claimExecutions(current.db, uploadSubject, {
    keys: shortCodes,
    actor: 'w',
    leaseSeconds: 6,
  });
  const settlements = [...claims.values()].flatMap((claim) =>
    claim.kind === 'claimed'
      ? [
          {
            executionId: claim.execution.executionId,
            outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' },
            nextStep: { kind: 'done' as const },
          },
        ]
      : [],
  );
  await settleExecutions(current.db, uploadSubject, settlements, { actor: 'w', dispatched: true });
}

it('counts each transition once, in batches of any size', async () => {
  await upload(7);
  expect(await measureTransitions(current.db, { limit: 2 })).toMatchObject({ rows: 2, transitions: 14 });
  expect(await measureAll(1)).toBe(7);
  expect(await counts()).toEqual({
    'task_execution PENDING RUNNING': 7,
    'task_execution RUNNING SUCCEEDED': 7,
    'paste_upload IN_PROGRESS PROCESSED': 7,
  });
  expect(await measureAll()).toBe(0);
  await upload(3);
  expect(await measureAll()).toBe(9);
  expect(await counts()).toEqual(await countedBySql());
});

it('has every transition of the machines, with 0 for one that never happened', async () => {
  const statistics = await readTransitionStatistics(current.db);
  expect(statistics.map(({ machine, from, to }) => [machine, from, to])).toEqual(
    machines.flatMap((machine: Machine) =>
      transitionsOf(machine).map(([from, to]) => [machine.name, from, to]),
    ),
  );
  for (const { count, buckets } of statistics)
    expect([count, ...buckets]).toEqual(Array(stateDurationBounds.length + 2).fill(0));
});

it('counts what others commit while a transaction is open, and its transitions when it has ended', async () => {
  const [held] = await makePastes(current.db, 1, { status: 'PROCESSED' });
  const open = await current.db.startTransaction().execute();
  await sql`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now() WHERE id = ${held!.id}`.execute(
    open,
  );
  await upload(2);
  const before = await measureAll();
  await open.commit().execute();
  expect([before, await measureAll()]).toEqual([6, 1]);
  expect(await counts()).toEqual(await countedBySql());
});

it('counts nothing of a transaction that was rolled back', async () => {
  const undone = await current.db.startTransaction().execute();
  await makePastes(undone, 1, { status: 'IN_PROGRESS' });
  await sql`UPDATE task_executions SET status = 'RUNNING', worker_id = 'w', started_at = now(), lease_expires_at = now()`.execute(
    undone,
  );
  await undone.rollback().execute();
  await upload(1);
  expect(await measureAll()).toBe(3);
});

it('counts again what a run had counted that was killed before its commit', async () => {
  await upload(2);
  const killed = await current.db.startTransaction().execute();
  expect(await measureTransitions(killed, { limit: 100 })).toMatchObject({ transitions: 6 });
  await killed.rollback().execute();
  expect(await counts()).toEqual({});
  expect(await measureAll()).toBe(6);
  expect(await counts()).toEqual(await countedBySql());
});

it('reads in a portion of many rows nothing that earlier ones have deleted, although a dump keeps it', async () => {
  await sql`INSERT INTO uncounted_transitions (machine, "from", "to", seconds)
    SELECT 'job', 'queued', 'processing', '{1}' FROM generate_series(1, 20000)`.execute(current.db);
  const dump = await current.db.startTransaction().setIsolationLevel('repeatable read').execute();
  await sql`SELECT FROM uncounted_transitions LIMIT 1`.execute(dump);
  const portion = { limit: 500 };
  const pagesFrom = async (after: string | null) =>
    (await explain(current.url, (db) => measureTransitions(db, { limit: 10, after }))).buffers;
  const pagesOfFirst = await pagesFrom(null);
  const sizes: number[] = [];
  let after: string | null = null;
  for (let n = 0; n < 39; n++) {
    const { rows, last }: CountedTransitions = await measureTransitions(current.db, { ...portion, after });
    sizes.push(rows);
    after = last;
  }
  expect(new Set(sizes)).toEqual(new Set([500]));
  expect(await pagesFrom(after)).toBeLessThanOrEqual(pagesOfFirst + 10);
  await dump.rollback().execute();
  expect(await measureTransitions(current.db, { ...portion, after })).toMatchObject({ rows: 500 });
  expect(await counts()).toEqual({ 'job queued processing': 20_000 });
});

it('concurrent runs count each transition once', async () => {
  for (let n = 0; n < 5; n++) await upload(2);
  const held = await current.db.startTransaction().execute();
  await sql`SELECT FROM uncounted_transitions LIMIT 1 FOR UPDATE`.execute(held);
  const measuring = Promise.all([4, 4, 100].map((limit) => measureTransitions(current.db, { limit })));
  await untilSomebodyWaits(current.db, 3);
  await held.rollback().execute();
  const counted = (await measuring).reduce((sum, { transitions }) => sum + transitions, 0);
  expect(counted + (await measureAll())).toBe(30);
  expect(await counts()).toEqual(await countedBySql());
});

it('a large statement leaves a row for each thousand transitions, so that a run can count a part of them', async () => {
  await makePastes(current.db, 2100, { status: 'PROCESSED' });
  await sql`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now()`.execute(
    current.db,
  );
  const first = await measureTransitions(current.db, { limit: 1 });
  expect(first.rows).toBe(1);
  expect(first.transitions).toBeLessThanOrEqual(1000);
  expect(first.transitions + (await measureAll())).toBe(2100);
});

it('adds the times of all transitions of a kind, and counts those up to each bound', async () => {
  for (const seconds of [[0.005, 0.02], [0.5], [7201]])
    await sql`INSERT INTO uncounted_transitions (machine, "from", "to", seconds)
      VALUES ('paste_deletion', 'NOT_EXPIRED', 'DELETION_IN_PROGRESS', ${seconds}::real[])`.execute(
      current.db,
    );
  expect([await measureAll(2), await measureAll()]).toEqual([4, 0]);
  const { seconds, buckets } = await statisticOf('NOT_EXPIRED', 'DELETION_IN_PROGRESS');
  expect(seconds).toBeCloseTo(7201.525, 3);
  const upTo = (bound: number) => buckets[stateDurationBounds.findIndex((each) => each === bound)];
  expect([0.005, 0.01, 0.025, 0.25, 0.5, 3600].map(upTo)).toEqual([1, 1, 2, 2, 3, 3]);
  expect(buckets.at(-1)).toBe(4);
});

const HOUR = 3600;

/** How long the rows were in `from`, in whole hours: the minutes of a slow machine don't count. */
async function hoursIn(from: string, to: string): Promise<number> {
  await measureAll();
  const { count, seconds } = await statisticOf(from, to);
  expect(count).toBe(1);
  return Math.floor(seconds / HOUR);
}

async function statisticOf(from: string, to: string): Promise<TransitionStatistic> {
  const statistics = await readTransitionStatistics(current.db);
  return statistics.find((each) => each.from === from && each.to === to)!;
}

it('measures the time in the first state since the creation, also of several machines of one row', async () => {
  const [paste] = await makePastes(current.db, 1, { status: 'IN_PROGRESS' });
  for (const table of ['pastes', 'task_executions'])
    await sql`UPDATE ${sql.table(table)} SET created_at = created_at - interval '3 hours'`.execute(
      current.db,
    );
  await claimExecutions(current.db, uploadSubject, {
    keys: [paste!.shortCode],
    actor: 'w',
    leaseSeconds: 60,
  });
  await sql`UPDATE pastes SET status = 'FAILED', failure_reason = 'x', failed_at = now(),
    deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now()`.execute(current.db);
  expect(await hoursIn('PENDING', 'RUNNING')).toBe(3);
  expect(await hoursIn('IN_PROGRESS', 'FAILED')).toBe(3);
  expect(await hoursIn('NOT_EXPIRED', 'DELETION_IN_PROGRESS')).toBe(3);
});

it('measures the time of a running attempt and of a deletion since their start', async () => {
  const [made] = await makePastes(current.db, 1, {
    status: 'IN_PROGRESS',
    execution: { status: 'RUNNING', leaseSeconds: 60 },
  });
  await sql`UPDATE task_executions SET started_at = now() - interval '2 hours'`.execute(current.db);
  const settlement = {
    executionId: made!.executionId,
    outcome: { kind: 'succeeded' as const, s3Url: 's3://b/k' },
    nextStep: { kind: 'done' as const },
  };
  await settleExecutions(current.db, uploadSubject, [settlement], { actor: 'w', dispatched: true });
  expect(await hoursIn('RUNNING', 'SUCCEEDED')).toBe(2);
  await sql`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now() - interval '5 hours'`.execute(
    current.db,
  );
  await sql`UPDATE pastes SET deletion_status = 'DELETED', deleted_at = now()`.execute(current.db);
  expect(await hoursIn('DELETION_IN_PROGRESS', 'DELETED')).toBe(5);
});

it('measures the time in a state without a column since the last transition', async () => {
  const [user] = await makeUsers(current.db, 1);
  await makeJobs(current.db, 1, { userId: user!.id, status: 'queued' });
  await sql`UPDATE jobs SET created_at = created_at - interval '9 hours'`.execute(current.db);
  await sql`UPDATE jobs SET status = 'processing'`.execute(current.db);
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET at = at - interval '4 hours'`.execute(tx),
  );
  await sql`UPDATE jobs SET status = 'completed', completed_at = now(), result = '{}'`.execute(current.db);
  expect(await hoursIn('queued', 'processing')).toBe(9);
  expect(await hoursIn('processing', 'completed')).toBe(4);
});

it('measures the time in the first state since the creation also for a row that came back to it', async () => {
  await makePastes(current.db, 1, { status: 'PROCESSED' });
  await sql`UPDATE pastes SET created_at = created_at - interval '3 hours'`.execute(current.db);
  for (const [state, time] of [
    ['DELETION_IN_PROGRESS', new Date()],
    ['NOT_EXPIRED', null],
    ['DELETION_IN_PROGRESS', new Date()],
  ])
    await sql`UPDATE pastes SET deletion_status = ${state}, deletion_initiated_at = ${time}`.execute(
      current.db,
    );
  await measureAll();
  const { count, seconds } = await statisticOf('NOT_EXPIRED', 'DELETION_IN_PROGRESS');
  expect([count, Math.floor(seconds / HOUR)]).toEqual([2, 6]);
});

it('reports the age of the oldest uncounted transition', async () => {
  expect(await readUncountedSeconds(current.db)).toBe(0);
  await upload(1);
  await sql`UPDATE uncounted_transitions SET at = at - interval '10 hours' WHERE machine = 'paste_upload'`.execute(
    current.db,
  );
  expect(Math.floor((await readUncountedSeconds(current.db)) / HOUR)).toBe(10);
  await measureAll();
  expect(await readUncountedSeconds(current.db)).toBe(0);
});
