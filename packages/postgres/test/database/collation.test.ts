import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { createDatabase, findChangedCollation, migrate, type Database } from '../../src/index.ts';
import { migrations } from '../../src/migrations/all.ts';

let stack: TestPostgres;
let server: Database;
beforeAll(async () => {
  stack = await startTestPostgres();
  server = connect(stack.postgres.url);
});
afterAll(async () => {
  await server?.destroy();
  await stack?.stop();
});

const connect = (url: string) =>
  createDatabase({ url, applicationName: 'collation-test', maxConnections: 2, onConnectionError: () => {} });

/** A database whose default collation is that of a language, as most are. */
async function inDatabase(name: string, use: (db: Database) => Promise<void>): Promise<void> {
  await sql`CREATE DATABASE ${sql.id(name)} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`.execute(
    server,
  );
  const url = new URL(stack.postgres.url);
  url.pathname = `/${name}`;
  const db = connect(url.href);
  try {
    await use(db);
  } finally {
    await db.destroy();
  }
}

const KEYS_IN_BYTES = '0019-keys-in-bytes';

/** The schema of today, save that its keys are in the order of the database. */
const migrateOthers = (db: Database) =>
  migrate(db, {}, { ...migrations, [KEYS_IN_BYTES]: { up: () => Promise.resolve() } });

const putKeysInBytes = (db: Database) =>
  db.transaction().execute(async (tx) => {
    await migrations[KEYS_IN_BYTES]?.up(tx);
  });

/** Words of a closed list in lower-case letters, whose order is the same in every collation; and kysely's own. */
const SAME_IN_EVERY_ORDER = [
  'jobs.status',
  'task_executions.kind',
  'kysely_migration.name',
  'kysely_migration_lock.id',
];

it('every text that is a key of an index is in the order of its bytes, also after an upgrade', async () => {
  await inDatabase('upgraded', async (db) => {
    await migrateOthers(db);
    await sql`INSERT INTO users (name) VALUES ('straße'), ('a-b'), ('ab')`.execute(db);
    const triggers = () =>
      // Without parentheses, of which Postgres removes superfluous ones.
      sql`SELECT tgname, tgenabled, translate(pg_get_triggerdef(oid), '()', ''), obj_description(oid, 'pg_trigger') FROM pg_trigger
        WHERE NOT tgisinternal ORDER BY tgrelid::regclass::text, tgname`.execute(db);
    const guards = await triggers();
    await putKeysInBytes(db);
    await migrate(db);
    expect((await triggers()).rows).toEqual(guards.rows);
    const { rows } = await sql<{ key: string }>`
      SELECT DISTINCT t.relname || '.' || coalesce(a.attname, dependent.attname) AS key
      FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid
        CROSS JOIN LATERAL unnest(x.indkey::int2[], x.indcollation::oid[]) AS k (attnum, coll)
        LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0
        LEFT JOIN LATERAL (
          SELECT attname FROM pg_depend d JOIN pg_attribute ON attrelid = d.refobjid AND attnum = d.refobjsubid
          WHERE d.objid = x.indexrelid AND d.refobjid = t.oid AND attcollation <> 0) AS dependent ON k.attnum = 0
      WHERE t.relnamespace = 'public'::regnamespace AND k.coll NOT IN (0, '"C"'::regcollation, '"POSIX"'::regcollation)`.execute(
      db,
    );
    expect(rows.map(({ key }) => key).filter((key) => !SAME_IN_EVERY_ORDER.includes(key))).toEqual([]);
    const { rows: users } = await sql<{ name: string }>`SELECT name FROM users ORDER BY name`.execute(db);
    expect(users.map(({ name }) => name)).toEqual(['a-b', 'ab', 'straße']);
  });
});

it('the migration names rows that an index in another order has let in twice, and changes nothing', async () => {
  await inDatabase('duplicated', async (db) => {
    await migrateOthers(db);
    await sql`ALTER TABLE users DROP CONSTRAINT users_name_key`.execute(db); // as the index was: it found no name
    await sql`INSERT INTO users (name) VALUES ('alice'), ('alice'), ('bob')`.execute(db);
    await expect(putKeysInBytes(db)).rejects.toThrow(
      'the table users has rows twice that are unique: "alice".',
    );
    await sql`DELETE FROM users WHERE id = (SELECT max(id::text)::uuid FROM users WHERE name = 'alice')`.execute(
      db,
    );
    await putKeysInBytes(db);
  });
});

it('finds that the version of the collation has changed', async () => {
  await inDatabase('changed', async (db) => {
    expect(await findChangedCollation(db)).toBeNull();
    await sql`UPDATE pg_database SET datcollversion = '1.0' WHERE datname = 'changed'`.execute(db);
    expect(await findChangedCollation(db)).toMatchObject({ recorded: '1.0', actual: expect.any(String) });
  });
});
