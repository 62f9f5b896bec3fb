import { sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import type { Database } from './database/database.ts';
import { isLockTimeout, isUndefinedTable } from './database/errors.ts';
import { describeHolder, holdOffVacuum, withLockRetries } from './database/locks.ts';
import { installStateMachines } from './enforcement/install.ts';
import { migrations } from './migrations/all.ts';
import { ensureTransitionPartitions } from './sweeps/old-rows.ts';
import { createRoles, type RolePasswords } from './roles/create-roles.ts';
import { grantRights } from './roles/rights-gaps.ts';
import { existingTables, takeOwnership } from './roles/take-ownership.ts';

/**
 * How many partitions the audit trail has from the start, beside that of this month. The janitor makes more.
 */
const PARTITIONED_MONTHS_AHEAD = 2;
/** Other migrations made the schema before release 0.1.0. This was the first of them. */
const FIRST_OF_EARLIER = '0001-uuid-v7';

/**
 * Applies the pending migrations, then installs the enforcement of the state machines and the rights of the
 * services' roles. Safe to run repeatedly and in several processes at once. kysely takes a session lock, so
 * do not migrate through PgBouncer in transaction mode.
 * @returns the names of the applied migrations
 * @throws an Error that names the transaction because of which it did not get a lock
 */
export async function migrate(
  db: Database,
  {
    passwords = {},
    onNotice = () => {},
  }: {
    readonly passwords?: RolePasswords;
    /** Called with each thing that an administrator still has to do, as a sentence. */
    readonly onNotice?: (notice: string) => void;
  } = {},
  all: Readonly<Record<string, Migration>> = migrations,
): Promise<readonly string[]> {
  try {
    await requireUtf8(db);
    await refuseOtherSchema(db, all);
    await requirePublicSchema(db);
    for (const notice of await createRoles(db, passwords)) onNotice(notice);
    const applied = await applyPending(db, all);
    await takeOwnership(db);
    await installStateMachines(db);
    await withLockRetries(() => ensureTransitionPartitions(db, PARTITIONED_MONTHS_AHEAD));
    await grantRights(db);
    return applied;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new Error(await describeHolder(db), { cause: error });
  }
}

/**
 * A database of another encoding refuses characters that a paste may have, or stores bytes that are no text.
 */
async function requireUtf8(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; encoding: string }>`
    SELECT current_database() AS name, current_setting('server_encoding') AS encoding`.execute(db);
  const [{ name, encoding } = { name: '', encoding: '' }] = rows;
  if (encoding === 'UTF8') return;
  throw new Error(
    `the database ${name} has the encoding ${encoding}, and Pasteflow needs UTF8. An encoding can't be changed: execute ` +
      `CREATE DATABASE pasteflow ENCODING 'UTF8' TEMPLATE template0, and let DATABASE_URL name that database`,
  );
}

/**
 * The services use `public` only. A migration there would begin with empty tables beside those of the other
 * schema.
 */
async function requirePublicSchema(db: Database): Promise<void> {
  const { rows } = await sql<{ schema: string }>`
    SELECT quote_ident(nspname) AS schema FROM pg_class
      JOIN pg_namespace ON pg_namespace.oid = relnamespace JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relname = 'pastes' AND relkind = 'r' AND attname = 'deletion_status' AND to_regclass('public.pastes') IS NULL`.execute(
    db,
  );
  const [{ schema } = { schema: null }] = rows;
  if (schema === null) return;
  throw new Error(
    `the tables of Pasteflow are in the schema ${schema}, and the services use the schema public. Let an administrator execute ` +
      `ALTER SCHEMA public RENAME TO former_public; ALTER SCHEMA ${schema} RENAME TO public; and migrate again`,
  );
}

/** Refuses a schema that this release can't migrate: one from before release 0.1.0, or one of a later release. */
async function refuseOtherSchema(db: Database, all: Readonly<Record<string, Migration>>): Promise<void> {
  const { rows: made } = await sql`SELECT WHERE to_regclass('kysely_migration') IS NOT NULL`.execute(db);
  if (made.length === 0) return;
  const { rows } = await sql<{ name: string; database: string }>`
    SELECT name, current_database() AS database FROM kysely_migration ORDER BY name`.execute(db);
  const [unknown] = rows.filter(({ name }) => !(name in all));
  if (unknown === undefined) return;
  if (rows.some(({ name }) => name === FIRST_OF_EARLIER))
    throw new Error(
      `the database ${unknown.database} was made before release 0.1.0 and can't be upgraded. Export: start the earlier version, and let each ` +
        'user save their pastes with `pasteflow export`. Start anew: stop it, let DATABASE_URL name a new database and S3_BUCKET a new ' +
        'bucket (with `npm start`: PASTEFLOW_DATA_DIR a new folder), and migrate. Import: load the saved files with `pasteflow import`',
    );
  throw new Error(
    `a later release has migrated the database ${unknown.database} (${unknown.name}). The services of this release work on its schema: ` +
      'start them without a migration',
  );
}

/**
 * Each migration is a transaction of its own. In one transaction, a migration would wait for a table while it
 * keeps the locks of those before it, and could deadlock with a statement of a service.
 */
async function applyPending(
  db: Database,
  all: Readonly<Record<string, Migration>>,
): Promise<readonly string[]> {
  const patient = Object.fromEntries(
    Object.entries(all).map(([name, migration]) => [name, waitBriefly(migration)]),
  );
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(patient) } });
  const applied: string[] = [];
  for (;;) {
    const results = await withLockRetries(() => applyNext(migrator));
    if (results.length === 0) return applied;
    applied.push(...results);
  }
}

/** How often the catalog is read again. */
const MAX_READS = 5;

async function applyNext(migrator: Migrator, reads = 1): Promise<readonly string[]> {
  const { error, results } = await migrator.migrateUp();
  // kysely reads the catalog before it takes its lock, and that fails when another process drops a view meanwhile.
  if (results === undefined && isUndefinedTable(error) && reads < MAX_READS)
    return applyNext(migrator, reads + 1);
  if (error !== undefined) throw error as Error;
  return (results ?? []).map(({ migrationName }) => migrationName);
}

/**
 * A migration gives up when it has waited for 300 ms for a lock, so that it neither holds up running services
 * nor deadlocks with them.
 */
function waitBriefly(migration: Migration): Migration {
  return {
    up: async (tx) => {
      await holdOffVacuum(tx, await existingTables(tx));
      await migration.up(tx);
    },
  };
}
