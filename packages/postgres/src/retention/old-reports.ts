import { sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

/** Removes up to `limit` reports that were judged more than `retentionSeconds` ago. @returns how many */
export async function removeJudgedReports(
  db: Database,
  { retentionSeconds, limit }: { retentionSeconds: number; limit: number },
): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM paste_reports WHERE judged_at < now() - make_interval(secs => ${retentionSeconds})
      ORDER BY judged_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM paste_reports r USING old WHERE r.id = old.id`.execute(db);
  return affectedRows(result);
}
