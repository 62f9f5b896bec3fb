import { sql, type Kysely } from 'kysely';

/**
 * Each text that is a key of an index, and is not one of a few fixed words. `key`: what must be unique. Every
 * request reads the last ones, which are locked for the shortest time.
 */
const columns = [
  { table: 'jobs', column: 'job_type', key: null, where: 'true' },
  { table: 'paste_reports', column: 'content_hash', key: null, where: 'true' },
  { table: 'content_blocks', column: 'content_hash', key: 'content_hash', where: 'unblocked_at IS NULL' },
  { table: 'cleared_contents', column: 'content_hash', key: 'content_hash, shown_as', where: 'true' },
  { table: 'sweep_runs', column: 'sweep', key: 'sweep', where: 'true' },
  { table: 'transition_statistics', column: 'machine', key: 'machine, "from", "to"', where: 'true' },
  { table: 'transition_statistics', column: 'from', key: 'machine, "from", "to"', where: 'true' },
  { table: 'transition_statistics', column: 'to', key: 'machine, "from", "to"', where: 'true' },
  { table: 'rate_limits', column: 'key', key: 'key', where: 'true' },
  { table: 'idempotency_keys', column: 'caller', key: 'caller, key_hash', where: 'true' },
  { table: 'users', column: 'name', key: 'name', where: 'true' },
] as const;

/**
 * Sorts keys by their bytes. By the collation of the operating system, an update of it changes the order, and
 * Postgres no longer finds rows in indexes that were made before: a name gets a second user, blocked content
 * is let in. Rewrites no table, and builds the indexes of these columns again: none is on pastes or
 * executions. With 200,000 users and as many jobs it took 2.6 s, in which requests with a token waited.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An index in another order would hide the duplicates.
  await sql`SET LOCAL enable_indexscan = off`.execute(db);
  await sql`SET LOCAL enable_indexonlyscan = off`.execute(db);
  await sql`SET LOCAL enable_bitmapscan = off`.execute(db);
  for (const { table, key, where } of columns)
    if (key !== null) await refuseDuplicates(db, { table, key, where });
  for (const { table, column } of columns) {
    const triggers = await triggersOn(db, table, column);
    for (const { name } of triggers)
      await sql`DROP TRIGGER ${sql.id(name)} ON ${sql.table(table)}`.execute(db);
    await useBytes(db, table, column);
    for (const trigger of triggers) await restoreTrigger(db, table, trigger);
  }
}

async function useBytes(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  const { rows } = await sql<{ type: string }>`
    SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
    WHERE attrelid = ${table}::regclass AND attname = ${column}`.execute(db);
  await sql`ALTER TABLE ${sql.table(table)} ALTER COLUMN ${sql.id(column)}
    TYPE ${sql.raw(rows[0]?.type ?? 'text')} COLLATE "C"`.execute(db);
}

interface Trigger {
  readonly name: string;
  readonly definition: string;
  readonly isAlways: boolean;
  readonly comment: string | null;
}

/** Triggers that name the column. Postgres does not change the type of the column while they exist. */
async function triggersOn(db: Kysely<unknown>, table: string, column: string): Promise<readonly Trigger[]> {
  const { rows } = await sql<Trigger>`
    SELECT tgname AS name, pg_get_triggerdef(t.oid) AS definition, tgenabled = 'A' AS "isAlways",
      obj_description(t.oid, 'pg_trigger') AS comment
    FROM pg_trigger t WHERE tgrelid = ${table}::regclass AND NOT tgisinternal AND EXISTS (
      SELECT FROM pg_depend d JOIN pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
      WHERE d.classid = 'pg_trigger'::regclass AND d.objid = t.oid AND a.attrelid = t.tgrelid AND a.attname = ${column})`.execute(
    db,
  );
  return rows;
}

async function restoreTrigger(
  db: Kysely<unknown>,
  table: string,
  { name, definition, isAlways, comment }: Trigger,
): Promise<void> {
  await sql.raw(definition).execute(db);
  const [on, trigger] = [sql.table(table), sql.id(name)];
  if (isAlways) await sql`ALTER TABLE ${on} ENABLE ALWAYS TRIGGER ${trigger}`.execute(db);
  if (comment !== null) await sql`COMMENT ON TRIGGER ${trigger} ON ${on} IS ${sql.lit(comment)}`.execute(db);
}

const MAX_NAMED = 10;

async function refuseDuplicates(
  db: Kysely<unknown>,
  { table, key, where }: { readonly table: string; readonly key: string; readonly where: string },
): Promise<void> {
  const { rows } = await sql<{ duplicate: string }>`
    SELECT concat_ws(' ', ${sql.raw(key)}) AS duplicate FROM ${sql.table(table)} WHERE ${sql.raw(where)}
    GROUP BY ${sql.raw(key)} HAVING count(*) > 1 LIMIT ${MAX_NAMED}`.execute(db);
  if (rows.length === 0) return;
  const named = rows.map(({ duplicate }) => JSON.stringify(duplicate)).join(', ');
  throw new Error(
    `the table ${table} has rows twice that are unique: ${named}. The collation of the database has changed. Remove one of ` +
      'each as docs/runbook.md says ("The collation of the operating system has changed"), and migrate again',
  );
}
