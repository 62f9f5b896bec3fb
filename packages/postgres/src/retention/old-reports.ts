import { sql, type RawBuilder } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';

export function searchJudgedReports({
  retentionSeconds,
  ...portion
}: { retentionSeconds: number } & Portion): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM paste_reports
      WHERE judged_at < now() - make_interval(secs => ${retentionSeconds}) AND ${within(sql`id::text`, portion)}
      ORDER BY judged_at LIMIT ${portion.limit}`;
}

/** Removes up to `limit` reports that were judged more than `retentionSeconds` ago. @returns how many */
export async function removeJudgedReports(
  db: Database,
  old: { retentionSeconds: number } & Portion,
): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      ${searchJudgedReports(old)} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM paste_reports r USING old WHERE r.id = old.id`.execute(db);
  return affectedRows(result);
}
