import { sql } from 'kysely';
import type { Database } from '../../src/index.ts';

const OFF = ['indexscan', 'indexonlyscan', 'bitmapscan', 'mergejoin', 'sort'];

/**
 * Runs statements in a transaction that scans whole tables, which the services' connections avoid, and so
 * finds the rows in the order in which the table has them. An index, or a join that sorts, would hide a
 * missing ORDER BY.
 */
export function byPlainScans<T>(db: Database, run: (db: Database) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL enable_seqscan = on`.execute(tx);
    for (const plan of OFF) await sql`SET LOCAL ${sql.id(`enable_${plan}`)} = off`.execute(tx);
    return run(tx);
  });
}
