import { sql, type RawBuilder } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { isThere } from '../schema/pastes.ts';
import { isNotBlocked } from './insert-pastes.ts';

export interface RetriedPaste {
  readonly shortCode: string;
  readonly id: string;
  /** The id of the FAILED paste, whose row is gone. */
  readonly retriedFrom: string;
}

/** Who retries, and why. */
interface RetriedBy {
  readonly actor: Actor;
  /** null: no reason was given. */
  readonly reason: string | null;
}

/**
 * Retries FAILED pastes (ADR 22). No transition leads out of FAILED: the row ends, as it does after its 24
 * hours, and a new one with the same short code, slug, owner and options takes its place, IN_PROGRESS, with
 * the payload, the hold, the reports and a first execution. All in one statement, which takes effect in full or
 * not at all.
 *
 * Skipped: pastes that are not FAILED, or are gone, or whose payload is gone, or whose content is blocked,
 * those of erased users, and rows that another session has locked.
 *
 * `created_at` is the time of the retry, so that the new paste has 24 hours of its own; `expires_at` stays.
 * @returns the retried pastes
 */
export async function retryFailed(
  db: Database,
  shortCodes: readonly string[],
  { actor, reason }: RetriedBy,
): Promise<readonly RetriedPaste[]> {
  if (shortCodes.length === 0) return [];
  const { rows } = await sql<RetriedPaste>`
    SELECT code AS "shortCode", new_id AS id, old_id AS "retriedFrom"
    FROM retry_failed(${shortCodes}::text[], ${actor}, ${reason}::text)`.execute(db);
  return rows;
}

/** A place in the list of FAILED pastes. */
export interface RetryablePaste {
  readonly shortCode: string;
  readonly failedId: string;
  readonly failedAt: Date;
  /** As the worker recorded it. */
  readonly reason: string;
}

/** Which FAILED pastes are meant. */
export interface Retryable {
  /** They failed at or after this time. Default: at any. */
  readonly since?: Date;
  /** They failed for exactly this reason. Default: for any. */
  readonly reason?: string | null;
}

/**
 * FAILED pastes that can be retried, as payload and p. Only FAILED pastes have `failed_at`, which leads to the
 * index of those.
 */
export const retryable = ({ since = new Date(0), reason = null }: Retryable): RawBuilder<unknown> => sql`
    failed_payloads payload JOIN pastes p ON p.id = payload.paste_id
    WHERE p.failed_at >= ${since} AND ${isThere('p')} AND ${isNotBlocked(sql`p.content_hash`)} AND (${reason}::text IS NULL OR p.failure_reason = ${reason})`;

/**
 * How many pastes `findRetryable` finds in all its pages. Reads every FAILED paste: at most those of two days.
 */
export async function countRetryable(db: Database, which: Retryable): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM ${retryable(which)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Up to `limit` FAILED pastes that can be retried, in the order of their ids, after the id `after` (null: from the start). */
export async function findRetryable(
  db: Database,
  { after, limit, ...which }: Retryable & { readonly after: string | null; readonly limit: number },
): Promise<readonly RetryablePaste[]> {
  const { rows } = await sql<RetryablePaste>`
    SELECT p.short_code AS "shortCode", p.id AS "failedId", p.failed_at AS "failedAt",
      p.failure_reason AS reason
    FROM ${retryable(which)}
      AND payload.paste_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
    ORDER BY payload.paste_id LIMIT ${limit}`.execute(db);
  return rows;
}
