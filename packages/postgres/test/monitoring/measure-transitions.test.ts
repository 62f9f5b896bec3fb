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
  type Database,
} from '../../src/index.ts';
import { makePastes, rewriteTrail } from '../../src/testing/index.ts';
import { newPaste, useOwnServer } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useOwnServer();

const measureAll = async (limit = 1000): Promise<number> => {
  for (let sum = 0; ;) {
    const counted = await measureTransitions(current.db, { limit });
    sum += counted;
    if (counted < limit) return sum;
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

it('counts each transition once, in batches of any size, also within one transaction', async () => {
  await upload(7);
  expect(await measureAll(4)).toBe(21);
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

it('waits for an open transaction and then counts its rows and those of later transactions', async () => {
  const [held] = await makePastes(current.db, 1, { status: 'PROCESSED' });
  const open = await current.db.startTransaction().execute();
  await sql`UPDATE pastes SET deletion_status = 'DELETION_IN_PROGRESS', deletion_initiated_at = now() WHERE id = ${held!.id}`.execute(
    open,
  );
  await upload(2); // later ids and times, and committed first
  const before = await measureAll();
  await open.commit().execute();
  expect([before, await measureAll()]).toEqual([0, 7]);
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

it('concurrent runs count each transition once', async () => {
  await upload(10);
  const held = await current.db.startTransaction().execute();
  await sql`SELECT FROM transition_cursor FOR UPDATE`.execute(held);
  const measuring = Promise.all([11, 11, 100].map((limit) => measureTransitions(current.db, { limit })));
  await untilSomebodyWaits(current.db, 3);
  await held.rollback().execute();
  const counted = await measuring;
  expect((await measureAll()) + counted.reduce((sum, each) => sum + each)).toBe(30);
  expect(await counts()).toEqual(await countedBySql());
});

it('measures the time since the transition before, and for the first one since the creation', async () => {
  const [paste] = await makePastes(current.db, 1, { status: 'PROCESSED' });
  const times: [string, string, number][] = [
    ['NOT_EXPIRED', 'DELETION_IN_PROGRESS', 0.02],
    ['DELETION_IN_PROGRESS', 'NOT_EXPIRED', 7200.5],
    ['NOT_EXPIRED', 'DELETION_IN_PROGRESS', 7201],
    ['DELETION_IN_PROGRESS', 'DELETED', 7201.004],
  ];
  for (const [from, to, at] of times)
    await sql`INSERT INTO state_transitions (machine, entity, "from", "to", at, actor)
      SELECT 'paste_deletion', id, ${from}, ${to}, to_timestamp(
        ('x' || lpad(left(replace(id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0) + make_interval(secs => ${at}), 'w'
      FROM pastes WHERE id = ${paste!.id}`.execute(current.db);
  await measureAll();
  const statistics = await readTransitionStatistics(current.db);
  const of = (from: string, to: string) =>
    statistics.find((each) => each.machine === 'paste_deletion' && each.from === from && each.to === to)!;
  const upTo = (buckets: readonly number[], bound: number) =>
    buckets[stateDurationBounds.findIndex((each) => each === bound)];
  const first = of('NOT_EXPIRED', 'DELETION_IN_PROGRESS');
  expect(first).toMatchObject({ count: 2, seconds: expect.closeTo(0.02 + 0.5, 5) });
  expect([0.01, 0.025, 0.25, 0.5, 1].map((bound) => upTo(first.buckets, bound))).toEqual([0, 1, 1, 2, 2]);
  const reset = of('DELETION_IN_PROGRESS', 'NOT_EXPIRED');
  expect(reset.seconds).toBeCloseTo(7200.48, 5);
  expect(upTo(reset.buckets, 3600)).toBe(0);
  expect(reset.buckets.at(-1)).toBe(1);
  const deleted = of('DELETION_IN_PROGRESS', 'DELETED');
  expect(deleted.seconds).toBeCloseTo(0.004, 5);
  expect(deleted.buckets[0]).toBe(1);
});

it('continues after a restore from a dump, where transaction numbers are lower', async () => {
  await upload(2);
  await measureAll();
  const before = await counts();
  // As in a dump: rows and cursor have the transaction numbers of a server that was further ahead.
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET txid = (txid::text::bigint + 1000000)::text::xid8`.execute(tx),
  );
  await sql`UPDATE transition_cursor SET txid = (txid::text::bigint + 1000000)::text::xid8`.execute(
    current.db,
  );
  await upload(3);
  expect([await measureAll(), await measureAll()]).toEqual([0, 9]); // nothing was left of the old life
  expect(Object.values(await counts())).toEqual(Object.values(before).map((count) => count + 3));
  // The server reaches the transaction numbers of the old rows.
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET txid = '5' WHERE txid > pg_current_xact_id()`.execute(tx),
  );
  await sql`UPDATE transition_cursor SET txid = '4'`.execute(current.db);
  expect(await measureAll()).toBe(9); // those of the new life again, since the cursor was put back; none of the old one
});

it('counts once what was uncounted in a dump, in batches of any size, after any number of restores', async () => {
  /** Gives rows and cursor the transaction numbers of a server that was further ahead, as in a dump. */
  const restore = async () => {
    for (const table of ['state_transitions', 'transition_cursor'])
      await rewriteTrail(current.db, (tx) =>
        sql`UPDATE ${sql.id(table)} SET txid = (txid::text::bigint + 1000000)::text::xid8`.execute(tx),
      );
  };
  await upload(2);
  await measureAll();
  await upload(3);
  await restore();
  await upload(1); // of the new life, before the first count
  expect([await measureAll(4), await measureAll(4)]).toEqual([9, 3]);
  expect(await counts()).toEqual(await countedBySql());
  await upload(2);
  await restore();
  expect([await measureAll(3), await measureAll(3)]).toEqual([6, 0]);
  await upload(1);
  expect(await measureAll()).toBe(3);
  expect(await counts()).toEqual(await countedBySql());
  // The server reaches the transaction numbers of the old rows.
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET txid = '5' WHERE txid > pg_current_xact_id()`.execute(tx),
  );
  await sql`UPDATE transition_cursor SET txid = '4', id = 0 WHERE txid > '4'`.execute(current.db);
  expect(await measureAll()).toBe(3); // those of the last life again, since the cursor was put back
});

it('reports the age of the first uncounted transition, also when an open transaction delays it', async () => {
  expect(await readUncountedSeconds(current.db)).toBe(0);
  await upload(1);
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET at = now() - interval '10 minutes'`.execute(tx),
  );
  await upload(1);
  const open = await current.db.startTransaction().execute();
  await sql`SELECT pg_current_xact_id()`.execute(open); // as any statement that writes
  await measureAll();
  await upload(1);
  await measureAll();
  const held = await readUncountedSeconds(current.db);
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET at = at - interval '5 minutes'`.execute(tx),
  );
  const heldLonger = await readUncountedSeconds(current.db);
  await open.rollback().execute();
  await measureAll();
  const after = await readUncountedSeconds(current.db);
  expect([held, heldLonger - held].map((seconds) => Math.floor(seconds / 300))).toEqual([0, 1]);
  expect(after).toBe(0);
});

it('reports no age for rows from before a restore whose transaction numbers the server has not reached', async () => {
  await upload(1);
  await measureAll();
  await upload(1);
  await rewriteTrail(current.db, (tx) =>
    sql`UPDATE state_transitions SET txid = (txid::text::bigint + 1000000)::text::xid8, at = now() - interval '10 days'`.execute(
      tx,
    ),
  );
  await measureAll();
  expect(await readUncountedSeconds(current.db)).toBe(0);
});

it('leaves out rows that are older than the transaction column', async () => {
  await upload(1);
  await rewriteTrail(current.db, (tx) => sql`UPDATE state_transitions SET txid = NULL`.execute(tx));
  expect(await measureAll()).toBe(0);
});
