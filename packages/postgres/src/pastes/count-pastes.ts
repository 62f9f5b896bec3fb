import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ExportFilter } from './exportable-pastes.ts';

/**
 * About how many pastes of a time span a user has, counted up to `limit`. Counts pastes of every status,
 * including expired ones: the index alone has no more information.
 */
export async function countPastes(
  db: Database,
  { userId, createdAfter, createdBefore }: Pick<ExportFilter, 'userId' | 'createdAfter' | 'createdBefore'>,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM pastes
      WHERE user_id = ${userId} AND deletion_initiated_at IS NULL
        AND created_at >= coalesce(${createdAfter}::timestamptz, '-infinity')
        AND created_at < coalesce(${createdBefore}::timestamptz, 'infinity')
      LIMIT ${limit}
    ) AS counted`.execute(db);
  return rows[0]?.count ?? 0;
}
