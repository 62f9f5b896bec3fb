import { sql } from 'kysely';
import type { Database } from '../../src/index.ts';

/** Runs statements that scan whole tables, and so find the rows in the order of their insertion. An index would hide a missing ORDER BY. */
export function withoutIndexes<T>(db: Database, run: (db: Database) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`SELECT set_config('enable_' || scan, 'off', true)
      FROM unnest(ARRAY['indexscan', 'indexonlyscan', 'bitmapscan']) AS scan`.execute(tx);
    return run(tx);
  });
}
