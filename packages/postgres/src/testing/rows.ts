import { randomUUID, createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { NewPaste } from '../pastes/insert-pastes.ts';

/**
 * Runs statements that insert rows in later states, as an import does. Needs a connection of the owner of the
 * tables.
 */
export async function importRows<T>(db: Database, insert: (db: Database) => Promise<T>): Promise<T> {
  if (!db.isTransaction) return await db.transaction().execute((tx) => importRows(tx, insert));
  await sql`SET LOCAL pasteflow.import = 'on'`.execute(db);
  const result = await insert(db);
  await sql`SET LOCAL pasteflow.import = 'off'`.execute(db);
  return result;
}

interface MadeUser {
  readonly id: string;
  readonly name: string;
}

/** Creates `count` users with random names. */
export async function makeUsers(db: Database, count: number): Promise<readonly MadeUser[]> {
  const names = Array.from({ length: count }, () => `user-${randomUUID()}`);
  const { rows } = await sql<MadeUser>`
    INSERT INTO users (name) SELECT unnest(${names}::text[]) RETURNING id, name`.execute(db);
  return rows;
}

/** Their rows come from the migrations. */
const MIGRATED = ['kysely_migration', 'kysely_migration_lock', 'installation', 'work_kinds'];

/**
 * Empties the tables between two tests, without the triggers that refuse a deletion or act on it. It takes
 * 6 ms of CPU time. TRUNCATE takes 25 ms, because it makes a file for each table and index, and a new
 * database 60 ms. Needs a connection of the superuser.
 * @param kept tables that keep their rows
 */
export async function removeRows(db: Database, kept: readonly string[] = []): Promise<void> {
  await rewriteTrail(db, async (tx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(tx);
    const { rows } = await sql<{ name: string }>`
      SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition AND relname <> ALL (${[...MIGRATED, ...kept]}::text[])`.execute(tx);
    const deletions = rows.map(({ name }) => `DELETE FROM ${name};`);
    await sql.raw(`DO $$ BEGIN ${deletions.join(' ')} END $$`).execute(tx);
  });
}

/**
 * Runs statements that change or empty the audit trail, which its guards refuse otherwise. Needs a connection
 * of the owner of the tables.
 */
export async function rewriteTrail<T>(db: Database, rewrite: (db: Database) => Promise<T>): Promise<T> {
  return await db.transaction().execute(async (tx) => {
    await forEachTrailTable(tx, 'DISABLE TRIGGER guard_state_transitions');
    const result = await rewrite(tx);
    await forEachTrailTable(tx, 'ENABLE ALWAYS TRIGGER guard_state_transitions');
    return result;
  });
}

async function forEachTrailTable(db: Database, action: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    SELECT relid::regclass::text AS name FROM pg_partition_tree('state_transitions') AS part
    WHERE EXISTS (SELECT FROM pg_trigger WHERE tgrelid = part.relid AND tgname = 'guard_state_transitions')`.execute(
    db,
  );
  for (const { name } of rows) await sql`ALTER TABLE ${sql.id(name)} ${sql.raw(action)}`.execute(db);
}

/**
 * Makes the rows look as they do when the clock of Postgres has stepped back, as after a failover to a host
 * that is behind: every time in every table is that much later, compared with `now()`. Needs the owner of the
 * tables. The audit trail and `happened_at`, which are never compared, stay.
 */
export async function stepClockBack(db: Database, seconds: number): Promise<void> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    SELECT relname AS "table", array_agg(attname::text) AS columns
    FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND NOT relispartition
      AND attnum > 0 AND NOT attisdropped AND atttypid = 'timestamptz'::regtype AND attname <> 'happened_at'
    GROUP BY 1`.execute(db);
  await db.transaction().execute(async (tx) => {
    for (const { table, columns } of rows) {
      const later = columns.map(
        (column) => sql`${sql.id(column)} = ${sql.id(column)} + make_interval(secs => ${seconds})`,
      );
      await sql`UPDATE ${sql.table(table)} SET ${sql.join(later)}`.execute(tx);
    }
  });
}

/** An anonymous paste with a new short code. */
export function pasteToCreate(options: Partial<NewPaste> = {}): NewPaste {
  const { content = randomBytes(20) } = options;
  return {
    shortCode: randomBytes(5).toString('hex'),
    content,
    contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    title: null,
    syntax: null,
    userId: null,
    visibility: 'unlisted',
    expiresInSeconds: 3600,
    deleteTokenHash: null,
    ...options,
  };
}
