import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  claimExecutions,
  claimExpired,
  claimJob,
  createJob,
  createPastes,
  findOverdue,
  findPaste,
  findStranded,
  findUndispatched,
  findZombies,
  measureTransitions,
  readStateFigures,
  removeTombstones,
  renewLeases,
  requestDeletion,
  settleDeleted,
  settleExecutions,
  stampDispatched,
  uploadSubject,
  type CreatedPaste,
  type Database,
} from '../../src/index.ts';
import { makeUsers } from '../../src/testing/index.ts';
import { newPaste, openToFill, pasteToCreate } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { endingOf, newJob, settle } from '../support/jobs.ts';

/**
 * The same work in two databases of one server. In one of them a transaction is idle from the beginning: like
 * a long dump or a slot that nobody reads, it keeps each dead row, and each entry of an index that names one.
 * For the number of dead rows it does not matter whether they took ten minutes or one.
 */
interface Side {
  readonly url: string;
  readonly db: Database;
  readonly userId: string;
  readonly secondsOfTurns: number[];
}

const TURNS = 10;
const ROUNDS_IN_TURN = 10;
const PASTES_IN_ROUND = 20;
const PASTES = TURNS * ROUNDS_IN_TURN * PASTES_IN_ROUND;
const JOBS = TURNS * ROUNDS_IN_TURN;

let stack: TestPostgres;
let free: Side;
let held: Side;
let endSnapshot: () => Promise<void>;
let waiting: readonly CreatedPaste[][];
let running: readonly CreatedPaste[][];

beforeAll(async () => {
  stack = await startTestPostgres();
  [free, held] = [await openSide(), await openSide()];
  endSnapshot = await holdSnapshot(held);
  for (let turn = 0; turn < TURNS; turn += 1)
    for (const side of turn % 2 === 0 ? [free, held] : [held, free]) await takeTurn(side);
  waiting = await bothSides(({ db }) => createMany(db, 10));
  running = await bothSides(async ({ db }) => {
    const pastes = await createMany(db, 10);
    await claim(db, pastes);
    return pastes;
  });
}, 600_000);

afterAll(async () => {
  await endSnapshot?.();
  await free?.db.destroy();
  await held?.db.destroy();
  await stack?.stop();
});

async function openSide(): Promise<Side> {
  const { url } = await createTestDatabase(stack);
  const db = openToFill(url);
  const [user] = await makeUsers(db, 1);
  return { url, db, userId: user!.id, secondsOfTurns: [] };
}

async function holdSnapshot({ url }: Side): Promise<() => Promise<void>> {
  const db = openToFill(url);
  const idle = await db.startTransaction().setIsolationLevel('repeatable read').execute();
  await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(idle);
  await sql`SELECT FROM pastes`.execute(idle);
  return async () => {
    if (!idle.isCommitted) await idle.commit().execute();
    await db.destroy();
  };
}

async function bothSides<T>(act: (side: Side) => Promise<T>): Promise<T[]> {
  return [await act(free), await act(held)];
}

async function createMany(db: Database, count: number): Promise<CreatedPaste[]> {
  const pastes = Array.from({ length: count }, () => pasteToCreate());
  return (await createPastes(db, pastes, { maxSlugs: 1 })) as CreatedPaste[];
}

const claim = (db: Database, pastes: readonly CreatedPaste[]) =>
  claimExecutions(db, uploadSubject, {
    keys: pastes.map(({ shortCode }) => shortCode),
    actor: 'w',
    leaseSeconds: 600,
  });

const settleStored = (db: Database, pastes: readonly CreatedPaste[]) =>
  settleExecutions(
    db,
    uploadSubject,
    pastes.map(({ executionId }) => ({
      executionId,
      outcome: { kind: 'succeeded', s3Url: 's3://b/k' },
      nextStep: { kind: 'done' },
    })),
    { actor: 'w', dispatched: true },
  );

const stamp = (db: Database, pastes: readonly CreatedPaste[]) =>
  stampDispatched(
    db,
    pastes.map(({ executionId }) => executionId),
  );

const claimNextJob = (db: Database, jobId: string) => claimJob(db, { jobId, actor: 'w', leaseSeconds: 600 });

/** Uploads and a job, from their creation to their end; every second paste is deleted and removed. */
async function takeTurn({ db, userId, secondsOfTurns }: Side): Promise<void> {
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS_IN_TURN; round += 1) {
    const pastes = await createMany(db, PASTES_IN_ROUND);
    await stamp(db, pastes);
    await claim(db, pastes);
    await settleStored(db, pastes);
    for (const { id } of pastes.slice(PASTES_IN_ROUND / 2)) await requestDeletion(db, id);
    const { id, executionId } = await createJob(db, { userId, jobType: 'import', parameters: {} });
    await stampDispatched(db, [executionId]);
    const job = await claimNextJob(db, id);
    if (job.kind !== 'claimed') throw new Error(`the job is ${job.kind}`);
    await settle(db, endingOf(job.execution));
  }
  await settleDeleted(db, await claimExpired(db, { actor: 'j', limit: 1000 }), 'j');
  await removeTombstones(db, { retentionSeconds: 0, limit: 1000 });
  await measureTransitions(db, { limit: 10_000 });
  for (const search of Object.values(searches)) await search(db);
  secondsOfTurns.push((performance.now() - startedAt) / 1000);
  await sql`VACUUM (ANALYZE)`.execute(db); // autovacuum would do so at some time
}

/** What reads an index from its start, where the dead entries are. */
const searches: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  'finding zombies': (db) => findZombies(db, uploadSubject, 100),
  'finding stranded uploads': (db) => findStranded(db, uploadSubject, 'oldest', 100),
  'finding what was never dispatched': (db) =>
    findUndispatched(db, uploadSubject, { graceSeconds: 600, limit: 100 }),
  'finding what is overdue': (db) => findOverdue(db, uploadSubject, { olderThanSeconds: 600, limit: 100 }),
  'reading how many are in which state': (db) => readStateFigures(db),
  'counting transitions': (db) => measureTransitions(db, { limit: 500 }),
};

type OnSide = (db: Database, side: 0 | 1) => Promise<unknown>;

/** What is done for each paste. */
const perPaste: Readonly<Record<string, OnSide>> = {
  'creating a paste': (db) => newPaste(db).catch(() => undefined), // under EXPLAIN it returns no row
  'stamping ten uploads': (db, side) => stamp(db, waiting[side]!),
  'claiming ten uploads': (db, side) => claim(db, waiting[side]!),
  'renewing ten leases': (db, side) =>
    renewLeases(
      db,
      running[side]!.map(({ executionId }) => executionId),
      6,
    ),
  'settling ten uploads': (db, side) => settleStored(db, running[side]!),
  'reading a paste': (db, side) => findPaste(db, waiting[side]![0]!.shortCode),
  'deleting a paste': (db, side) => requestDeletion(db, waiting[side]![0]!.id),
};

async function pagesOf(name: string, run: OnSide): Promise<[without: number, withSnapshot: number]> {
  const without = await explain(free.url, (db) => run(db, 0));
  const withSnapshot = await explain(held.url, (db) => run(db, 1));
  process.stderr.write(`${name}: ${without.buffers} pages, ${withSnapshot.buffers} with the snapshot\n`);
  return [without.buffers, withSnapshot.buffers];
}

// An update finds no room on a page with dead rows, and then adds an entry to each index.
it.each(Object.keys(perPaste))(
  '%s reads at most three times the pages, however many rows are dead',
  async (name) => {
    const [without, withSnapshot] = await pagesOf(name, perPaste[name]!);
    expect(without).toBeGreaterThan(0);
    expect(withSnapshot).toBeLessThanOrEqual(without * 3 + 20);
  },
);

it.each(Object.keys(searches))('%s reads at most a page for each paste since the snapshot', async (name) => {
  const [without, withSnapshot] = await pagesOf(name, searches[name]!);
  expect(withSnapshot).toBeLessThanOrEqual(without + PASTES);
});

it('a job is created and claimed with at most five pages for each job since the snapshot', async () => {
  const { userId } = held;
  const creating: OnSide = (db) =>
    createJob(db, { userId, jobType: 'import', parameters: {} }).catch(() => undefined);
  const jobs = await bothSides(({ db }) => newJob(db));
  for (const [name, run] of Object.entries<OnSide>({
    'creating a job': creating,
    'claiming a job': (db, side) => claimNextJob(db, jobs[side]!.id).catch(() => undefined),
  })) {
    const [without, withSnapshot] = await pagesOf(name, run);
    expect(withSnapshot).toBeLessThanOrEqual(without + 5 * JOBS + 20);
  }
});

it('a paste leaves few dead rows, and all of them are removed when the snapshot has ended', async () => {
  const dead = async () => {
    await sql`VACUUM`.execute(held.db);
    const { rows } = await sql<{ count: number }>`
      SELECT sum(n_dead_tup)::integer AS count FROM pg_stat_user_tables`.execute(held.db);
    return rows[0]!.count;
  };
  const median = ({ secondsOfTurns }: Side) => secondsOfTurns.toSorted((a, b) => a - b)[TURNS / 2]!;
  const before = await dead();
  process.stderr.write(
    `${(before / PASTES).toFixed(1)} dead rows for each paste; of the throughput ` +
      `${Math.round((100 * median(free)) / median(held))} % is left with the snapshot\n`,
  );
  expect(before).toBeGreaterThan(PASTES);
  expect(before).toBeLessThan(PASTES * 12);
  await endSnapshot();
  expect(await dead()).toBeLessThan(100);
});
