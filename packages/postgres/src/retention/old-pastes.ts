import { sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

export interface OldFailed {
  readonly shortCode: string;
  /**
   * In microseconds. With the short code this is the place after which the next `findOldFailed` continues.
   */
  readonly createdAt: string;
}

/**
 * R6: up to `limit` FAILED pastes that were created more than `retentionSeconds` ago, oldest first, after the
 * place `after` (null: from the start). Continuing after the last one, instead of reading the oldest again,
 * skips pastes whose object could not be deleted.
 */
export async function findOldFailed(
  db: Database,
  { retentionSeconds, after, limit }: { retentionSeconds: number; after: OldFailed | null; limit: number },
): Promise<readonly OldFailed[]> {
  const { rows } = await sql<OldFailed>`
    SELECT short_code AS "shortCode", created_at::text AS "createdAt" FROM pastes
    WHERE failed_at IS NOT NULL AND status = 'FAILED' AND created_at < now() - make_interval(secs => ${retentionSeconds})
      AND (created_at, short_code) > (coalesce(${after?.createdAt ?? null}::timestamptz, '-infinity'), ${after?.shortCode ?? ''})
    ORDER BY created_at, short_code LIMIT ${limit}`.execute(db);
  return rows;
}

/** Removes FAILED pastes and their executions. @returns how many pastes it removed */
export async function removeFailed(db: Database, shortCodes: readonly string[]): Promise<number> {
  if (shortCodes.length === 0) return 0;
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM pastes WHERE short_code = ANY (${shortCodes}) AND status = 'FAILED' ORDER BY id FOR UPDATE
    )
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return affectedRows(result);
}

/**
 * Removes up to `limit` pastes that were DELETED more than `retentionSeconds` ago, and their executions.
 * @returns how many pastes it removed
 */
export async function removeTombstones(
  db: Database,
  { retentionSeconds, limit }: { retentionSeconds: number; limit: number },
): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM pastes
      WHERE deleted_at < now() - make_interval(secs => ${retentionSeconds}) AND deletion_status = 'DELETED'
      ORDER BY deleted_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return affectedRows(result);
}
