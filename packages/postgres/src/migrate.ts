import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Database } from './database/database.ts';
import { installStateMachines } from './enforcement/install.ts';
import { migrations } from './migrations/all.ts';
import { createRoles, type RolePasswords } from './roles/create-roles.ts';
import { grantRights } from './roles/grant-rights.ts';
import { takeOwnership } from './roles/take-ownership.ts';

export interface MigrateOptions {
  readonly passwords?: RolePasswords;
  /** Called with each thing that an administrator still has to do, as a sentence. */
  readonly onNotice?: (notice: string) => void;
}

/**
 * Applies the pending migrations, then installs the enforcement of the state machines and the rights of the
 * services' roles. Safe to run repeatedly and in several processes at once. kysely takes a session lock, so do
 * not migrate through PgBouncer in transaction mode.
 * @returns the names of the applied migrations
 */
export async function migrate(
  db: Database,
  { passwords = {}, onNotice = () => {} }: MigrateOptions = {},
): Promise<readonly string[]> {
  await requireUtf8(db);
  await requirePublicSchema(db);
  for (const notice of await createRoles(db, passwords)) onNotice(notice);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  for (const { name, executedAt } of await migrator.getMigrations())
    if (executedAt === undefined) await migrations[name]?.before?.(db);
  const applied = await applyPending(migrator);
  await takeOwnership(db);
  await installStateMachines(db);
  await grantRights(db);
  return applied;
}

/** A database of another encoding refuses characters that a paste may have, or stores bytes that are no text. */
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

/** The services use `public` only. A migration there would begin with empty tables beside those of the other schema. */
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

/**
 * Each migration is a transaction of its own. In one transaction, a migration would wait for a table while it keeps the locks of those
 * before it, and could deadlock with a statement of a service.
 */
async function applyPending(migrator: Migrator): Promise<readonly string[]> {
  const applied: string[] = [];
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp();
    if (error !== undefined) throw error as Error;
    if (results.length === 0) return applied;
    applied.push(...results.map(({ migrationName }) => migrationName));
  }
}
