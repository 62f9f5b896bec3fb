import { pasteUpload } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface WalkedPastes {
  /** The ids of those that are IN_PROGRESS. */
  readonly open: readonly string[];
  /** The ids of those that no counter of the quotas has counted. */
  readonly uncounted: readonly string[];
  /** The ids of those whose deletion was requested, by the clock of Postgres, later than now. */
  readonly requestedAhead: readonly string[];
  /** The last id that was read; null: the walk has reached the end of the table. */
  readonly last: string | null;
}

/**
 * Reads `limit` pastes in the order of their ids, after the id `after` (null: from the start). No index has
 * the pastes that are IN_PROGRESS, because such an index would cost each upload its HOT update. A paste that
 * lost its payload as well is found only here.
 */
export async function walkOpenPastes(
  db: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<WalkedPastes> {
  const { rows } = await sql<{
    open: string[] | null;
    uncounted: string[] | null;
    requestedAhead: string[] | null;
    last: string | null;
  }>`
    SELECT array_agg(id) FILTER (WHERE status = ${pasteUpload.initial}) AS open,
      array_agg(id) FILTER (WHERE NOT counted AND deletion_status <> 'DELETED') AS uncounted,
      array_agg(id) FILTER (WHERE deletion_requested_at > now() AND deletion_initiated_at IS NULL) AS "requestedAhead",
      CASE WHEN count(*) = ${limit} THEN max(id::text) END AS last
    FROM (
      SELECT id, status, counted, deletion_status, deletion_requested_at, deletion_initiated_at FROM pastes
      WHERE id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000') ORDER BY id LIMIT ${limit}
    ) AS walked`.execute(db);
  const [row] = rows;
  return {
    open: row?.open ?? [],
    uncounted: row?.uncounted ?? [],
    requestedAhead: row?.requestedAhead ?? [],
    last: row?.last ?? null,
  };
}
