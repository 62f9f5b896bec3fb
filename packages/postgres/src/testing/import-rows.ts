import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

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
