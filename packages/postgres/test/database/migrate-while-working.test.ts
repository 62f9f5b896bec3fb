import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import {
  claimExecutions,
  installStateMachines,
  measureTransitions,
  migrate,
  readTransitionStatistics,
  settleExecutions,
  uploadSubject,
  type Database,
} from '../../src/index.ts';
import { migrations } from '../../src/migrations/all.ts';
import { createRoles } from '../../src/roles/create-roles.ts';
import { takeOwnership } from '../../src/roles/take-ownership.ts';
import { makePastes, type MadePaste } from '../../src/testing/index.ts';
import { open } from '../support/database.ts';

let stack: TestStack;
let db: Database;
beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.stop());
beforeEach(async () => {
  db = open((await createTestDatabase(stack, { migrated: false })).url);
});
afterEach(() => db.destroy());

async function migrateTo(name: string): Promise<readonly string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  const { results = [], error } = await migrator.migrateTo(name);
  expect(error).toBeUndefined();
  return results.map(({ migrationName }) => migrationName);
}

async function trailLength(): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer FROM state_transitions`.execute(db);
  return rows[0]!.count;
}

async function upload(worker: string, signal: AbortSignal): Promise<number> {
  let settled = 0;
  while (!signal.aborted) {
    // not by createPaste, which names columns of later migrations
    const [{ shortCode, executionId }] = (await makePastes(db, 1, { status: 'IN_PROGRESS' })) as [MadePaste];
    await claimExecutions(db, uploadSubject, { keys: [shortCode], actor: worker, leaseSeconds: 6 });
    const outcome = { kind: 'succeeded', s3Url: 's3://b/k' } as const;
    const settlement = { executionId, outcome, nextStep: { kind: 'done' } } as const;
    settled += (await settleExecutions(db, uploadSubject, [settlement], { actor: worker, dispatched: true }))
      .size;
  }
  return settled;
}

/** Settlements lock executions first, creations pastes first. Both write the audit trail last. */
it('the migration of the measurements and the statements of a running service do not fail each other', async () => {
  await migrateTo('0012-rate-limits');
  await migrations['0016-losses']!.up(db); // the statements of today name its columns
  await migrations['0018-fair-jobs']!.up(db);
  await migrations['0022-takedowns']!.up(db);
  await migrations['0023-encrypted-pastes']!.up(db);
  await migrations['0025-stored-encoding']!.up(db);
  await migrations['0026-burn-after-reading']!.up(db);
  await migrations['0030-slugs']!.up(db);
  await migrations['0031-parents']!.up(db);
  await migrations['0039-deletion-requests']!.up(db);
  await sql`CREATE TABLE uncounted_transitions (
    machine text, "from" text, "to" text, at timestamptz DEFAULT clock_timestamp(), seconds real[])`.execute(
    db,
  );
  await installStateMachines(db);
  const stop = new AbortController();
  const all = Promise.all(Array.from({ length: 6 }, (_, n) => upload(`w${n}`, stop.signal)));
  all.catch(() => {}); // awaited below
  while ((await trailLength()) < 100);
  expect(await migrateTo('0014-what-jobs-made')).toContain('0013-measurements');
  await installStateMachines(db);
  stop.abort();
  for (const settled of await all) expect(settled).toBeGreaterThan(0);
  const { transitions } = await measureTransitions(db, { limit: 100_000 });
  expect(transitions).toBe(await trailLength());
});

/** As 0034 had it: the recorder of version 1 of the audit trail, which leaves nothing to count. */
async function installOldRecorders(): Promise<void> {
  const changes = {
    pastes: `('paste_upload', o.status, n.status, n.failure_reason), ('paste_deletion', o.deletion_status, n.deletion_status, NULL)`,
    jobs: `('job', o.status, n.status, n.error_message)`,
    task_executions: `('task_execution', o.status, n.status, n.error)`,
  };
  for (const [table, change] of Object.entries(changes)) {
    await sql`
      CREATE FUNCTION ${sql.id(`record_${table}`)}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $body$
      BEGIN
        INSERT INTO state_transitions (machine, entity, "from", "to", actor, reason)
          SELECT change.machine, n.id, change.old_state, change.new_state, 'w', change.reason
          FROM old_rows o JOIN new_rows n ON n.id = o.id
          CROSS JOIN LATERAL (VALUES ${sql.raw(change)}) AS change (machine, old_state, new_state, reason)
          WHERE change.old_state <> change.new_state;
        RETURN NULL;
      END $body$`.execute(db);
    await sql`
      CREATE TRIGGER ${sql.id(`record_${table}`)} AFTER UPDATE ON ${sql.table(table)}
      REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
      EXECUTE FUNCTION ${sql.id(`record_${table}`)}()`.execute(db);
  }
}

it.each(['0032-one-index-by-subject', '0034-room-for-settlements'])(
  'the migration of the uncounted transitions leaves each transition of running services to count once, from %s on',
  async (version) => {
    await migrateTo(version);
    await installOldRecorders();
    await createRoles(db, {});
    await takeOwnership(db);
    const stop = new AbortController();
    const all = Promise.all(Array.from({ length: 6 }, (_, n) => upload(`w${n}`, stop.signal)));
    all.catch(() => {}); // awaited below
    while ((await trailLength()) < 100);
    // As `measure` leaves the cursor, which it moves past transactions that have ended.
    const { rows } = await sql<{ counted: number }>`
    WITH cursor AS (
      UPDATE transition_cursor SET txid = pg_snapshot_xmin(pg_current_snapshot()) RETURNING txid)
    SELECT count(*)::integer AS counted FROM state_transitions t, cursor c WHERE t.txid < c.txid`.execute(db);
    const counted = rows[0]!.counted;
    const before = await trailLength();
    while ((await trailLength()) < before + 100);
    await migrate(db);
    const between = await trailLength();
    while ((await trailLength()) < between + 100);
    stop.abort();
    for (const settled of await all) expect(settled).toBeGreaterThan(0);
    expect(counted).toBeGreaterThan(50);
    const { transitions } = await measureTransitions(db, { limit: 100_000 });
    expect(transitions).toBe((await trailLength()) - counted);
  },
);

it.each<[string, Record<string, string>, number]>([
  ['nothing was counted', {}, 4],
  ['the cursor is within a transaction', { txid: '3', id: '2' }, 2],
  ['all was counted', { txid: '4', id: '4' }, 0],
  ['a restored database was counted on', { txid: '0', id: '0', ids_above: '2' }, 2],
  ['a restored database was not counted yet', { txid: '9000000', id: '9', greatest_id: '3' }, 1],
])('the migration moves what was not counted: %s', async (_, cursor, moved) => {
  await migrateTo('0034-room-for-settlements');
  for (const [n, txid] of ['1', '3', '3', '4', null].entries())
    await sql`INSERT INTO state_transitions (id, machine, entity, "from", "to", at, actor, txid)
      VALUES (${n + 1}, 'job', uuid_v7(), 'queued', 'processing', now() + interval '3 hours', 'w', ${txid})`.execute(
      db,
    );
  await sql`SELECT setval('state_transitions_id_seq', 5)`.execute(db);
  for (const [column, value] of Object.entries(cursor))
    await sql`UPDATE transition_cursor SET ${sql.id(column)} = ${value}`.execute(db);
  await migrate(db);
  expect(await measureTransitions(db, { limit: 100 })).toMatchObject({ transitions: moved });
  const statistics = await readTransitionStatistics(db);
  expect(Math.round(sumOf(statistics.map(({ seconds }) => seconds)) / 3600)).toBe(3 * moved);
  expect(await readByOldJanitor()).toBe(0);
});

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

/** How many transitions a janitor of the release before finds to count. */
async function readByOldJanitor(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM transition_cursor c, state_transitions s
    WHERE (s.txid, s.id) > (c.txid, c.id) AND s.id > c.ids_above AND s.txid IS NOT NULL`.execute(db);
  return rows[0]!.count;
}

it('the migration reads only what was not counted, and puts a thousand times at most into a row', async () => {
  await migrateTo('0034-room-for-settlements');
  const insert = (count: number, txid: string) =>
    sql`INSERT INTO state_transitions (machine, entity, "from", "to", actor, txid)
      SELECT 'job', gen_random_uuid(), 'queued', 'processing', 'w', ${txid}::text::xid8 FROM generate_series(1, ${count})`.execute(
      db,
    );
  await insert(20_000, '2');
  await insert(2500, '3');
  await sql`UPDATE transition_cursor SET txid = '3'`.execute(db);
  const read = await db.transaction().execute(async (tx) => {
    const tuples = async () => {
      const { rows } = await sql<{ read: number }>`
        SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer AS read FROM pg_stat_xact_user_tables
        WHERE relname LIKE 'state\\_transitions%'`.execute(tx);
      return rows[0]!.read;
    };
    const before = await tuples();
    await migrations['0035-uncounted-transitions']!.up(tx);
    return (await tuples()) - before;
  });
  expect(read).toBeLessThan(10_000);
  const { rows } = await sql<{ length: number }>`
    SELECT cardinality(seconds) AS length FROM uncounted_transitions ORDER BY 1`.execute(db);
  expect(rows.map(({ length }) => length)).toEqual([501, 999, 1000]);
});

it('the new index of the audit trail is built before the migration, which takes it over', async () => {
  await migrateTo('0034-room-for-settlements');
  const build = migrations['0036-trail-by-entity']!.before!;
  await Promise.all([build(db), build(db)]);
  const indexes = async () => {
    const { rows } = await sql<{ name: string; oid: string }>`
      SELECT indexrelid::regclass::text AS name, indexrelid::text AS oid FROM pg_index i
      JOIN pg_partition_tree('state_transitions') AS part ON part.relid = i.indrelid
      WHERE indisvalid AND indexrelid::regclass::text LIKE '%\_of\_entity' AND isleaf ORDER BY 1`.execute(db);
    return rows;
  };
  const built = await indexes();
  expect(built.length).toBe(4); // three months and the default partition
  await migrate(db);
  expect(await indexes()).toEqual(built);
  const { rows } = await sql<{ name: string }>`
    SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'state_transitions'::regclass AND indpred IS NULL`.execute(
    db,
  );
  expect(rows).toEqual([{ name: 'state_transitions_of_entity' }]);
});
