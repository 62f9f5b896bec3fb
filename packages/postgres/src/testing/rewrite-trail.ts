import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

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
