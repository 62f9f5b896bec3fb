import { sql, type RawBuilder } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';

export interface OldFailed {
  readonly id: string;
  readonly shortCode: string;
  /**
   * In microseconds. With the short code this is the place after which the next `claimOldFailed` continues.
   */
  readonly createdAt: string;
}

interface FailedPortion extends Portion {
  readonly retentionSeconds: number;
  readonly after: OldFailed | null;
}

const name = sql<string>`id::text`;

export function searchOldFailed({ retentionSeconds, after, ...portion }: FailedPortion): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name, short_code, created_at FROM pastes
      WHERE failed_at IS NOT NULL AND status = 'FAILED' AND created_at < now() - make_interval(secs => ${retentionSeconds})
        AND (created_at, short_code) > (coalesce(${after?.createdAt ?? null}::timestamptz, '-infinity'), ${after?.shortCode ?? ''})
        AND ${within(name, portion)}
      ORDER BY created_at, short_code LIMIT ${portion.limit}`;
}

/**
 * Claims up to `limit` FAILED pastes that were created more than `retentionSeconds` ago, oldest first,
 * after the place `after` (null: from the start), for their removal: their payloads are deleted, so that they
 * can't be retried any more. Only then may their objects be deleted: after a retry, the object would be that
 * of the paste that replaced the FAILED one. Continuing after the last one, instead of reading the oldest
 * again, skips pastes whose object could not be deleted.
 *
 * The row lock rules out a retry at the same time. A CHECK of the table gives `failed_at` to FAILED pastes
 * only; the index has the same condition.
 */
export async function claimOldFailed(db: Database, old: FailedPortion): Promise<readonly OldFailed[]> {
  const { rows } = await sql<OldFailed>`
    WITH old AS MATERIALIZED (
      ${searchOldFailed(old)} FOR UPDATE SKIP LOCKED
    ), forgotten AS (
      DELETE FROM failed_payloads WHERE paste_id IN (SELECT id FROM old)
    )
    SELECT id, short_code AS "shortCode", created_at::text AS "createdAt" FROM old ORDER BY created_at, short_code`.execute(
    db,
  );
  return rows;
}

/** Removes FAILED pastes and their executions. @returns how many pastes it removed */
export async function removeFailed(db: Database, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM pastes WHERE id = ANY (${ids}::uuid[]) AND status = 'FAILED' FOR UPDATE SKIP LOCKED
    )
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return affectedRows(result);
}

export function searchTombstones({
  retentionSeconds,
  ...portion
}: { retentionSeconds: number } & Portion): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM pastes
      WHERE deleted_at < now() - make_interval(secs => ${retentionSeconds}) AND deletion_status = 'DELETED' AND ${within(name, portion)}
      ORDER BY deleted_at LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` pastes that were DELETED more than `retentionSeconds` ago, and their executions. A
 * CHECK of the table gives `deleted_at` to DELETED pastes only; the state is named once more because the rows
 * are gone afterwards.
 * @returns how many pastes it removed
 */
export async function removeTombstones(
  db: Database,
  old: { retentionSeconds: number } & Portion,
): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      ${searchTombstones(old)} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM pastes USING old WHERE pastes.id = old.id`.execute(db);
  return affectedRows(result);
}
