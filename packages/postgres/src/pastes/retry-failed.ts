import { sql, type RawBuilder } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/errors.ts';
import { insertedPasteColumns, isThere, isThereAt } from '../schema/pastes.ts';
import { supersedesLive } from './newer-versions.ts';
import { isNotBlocked } from './insert-pastes.ts';
import { callerAs, type OwnerFunction } from '../database/objects.ts';
import { REPORTS_LOCK } from './reports.ts';

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
 * A newer version whose place another one has taken meanwhile no longer supersedes. When another one takes it
 * during the statement, the statement fails, and runs once more.
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
  const retry = sql<RetriedPaste>`
    SELECT code AS "shortCode", new_id AS id, old_id AS "retriedFrom"
    FROM retry_failed(${shortCodes}::text[], ${actor}, ${reason}::text)`;
  const { rows } = await retry.execute(db).catch(async (error: unknown) => {
    if (!isDuplicate(error)) throw error;
    return await retry.execute(db);
  });
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

const insertedColumns = [...insertedPasteColumns, 'held_at'];
const inserted = insertedColumns.join(', ');

/** A newer version that failed has lost its place, which another one may have taken, or another one of the retry. */
const retained = insertedColumns
  .map((column) =>
    column === 'supersedes'
      ? `CASE WHEN row_number() OVER (PARTITION BY supersedes ORDER BY id) = 1
          AND NOT EXISTS (SELECT FROM pastes live WHERE ${supersedesLive('live', 'removed.supersedes')}) THEN supersedes END`
      : column,
  )
  .join(', ');

/**
 * Replaces FAILED pastes by new ones (ADR 22): see `retryFailed`. The new paste takes over what hangs on the
 * id of the old one: the reports, the hold and the records of what its owner has changed and of earlier retries.
 * The rest hangs on the short code or is a column. No service may hold a paste or give a report to another one, so this is a function of the
 * owner.
 *
 * The locks on the paste and its payload fence the retry: of two retries, a deletion and the sweep of failed
 * pastes, one changes the row. Both are needed: a deletion and a takedown change the paste, the sweep of failed
 * pastes deletes the payload. The first lock lets the retry and the judgements of a content take turns, so
 * that a judgement finds all of its reports. A FAILED paste gets no further report.
 *
 * Content that an operator blocks meanwhile is not stored: for the block, a retry is a creation.
 */
export const retryFailedFunction: OwnerFunction = {
  name: 'retry_failed',
  parameters: 'of_codes text[], by_actor text, why text',
  returns: 'TABLE (code text, new_id uuid, old_id uuid)',
  body: `
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('${REPORTS_LOCK}'), reported.hash) FROM (
        SELECT DISTINCT hashtext(p.content_hash) AS hash FROM pastes p
        WHERE p.short_code = ANY (of_codes) AND p.status = 'FAILED'
          AND EXISTS (SELECT FROM paste_reports r WHERE r.paste_id = p.id AND r.judged_at IS NULL)
        ORDER BY 1) AS reported;
      RETURN QUERY
      WITH failed AS MATERIALIZED (
        SELECT p.id, payload.content FROM pastes p JOIN failed_payloads payload ON payload.paste_id = p.id
        WHERE p.short_code = ANY (of_codes) AND p.status = 'FAILED'
          AND ${isThereAt('p', 'clock_timestamp()')} AND (p.user_id IS NULL OR user_stands(p.user_id))
          AND NOT EXISTS (SELECT FROM content_blocks b WHERE b.content_hash = p.content_hash AND b.unblocked_at IS NULL)
          AND NOT EXISTS (SELECT FROM task_executions e
            WHERE e.kind = 'upload' AND e.subject_id = p.id AND e.status IN ('PENDING', 'RUNNING'))
        ORDER BY p.id FOR UPDATE OF p, payload SKIP LOCKED
      ), removed AS (
        DELETE FROM pastes p USING failed WHERE p.id = failed.id RETURNING p.*, failed.content
      ), paste AS (
        INSERT INTO pastes (${inserted}) SELECT ${retained} FROM removed ORDER BY slug, short_code
        RETURNING id, short_code, user_id, created_at
      ), payload AS (
        INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
        SELECT paste.id, removed.content, paste.user_id, paste.created_at FROM paste JOIN removed USING (short_code)
      ), execution AS (
        INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'upload', id, 1 FROM paste
      ), reports AS (
        UPDATE paste_reports r SET paste_id = paste.id
        FROM removed JOIN paste USING (short_code) WHERE r.paste_id = removed.id
      ), changes AS (
        UPDATE paste_changes c SET paste_id = paste.id
        FROM removed JOIN paste USING (short_code) WHERE c.paste_id = removed.id
      ), earlier AS (
        UPDATE paste_retries r SET paste_id = paste.id
        FROM removed JOIN paste USING (short_code) WHERE r.paste_id = removed.id
      ), recorded AS (
        INSERT INTO paste_retries (retried_from, execution_ids, paste_id, created_at, failed_at, failure_reason, actor, reason)
        SELECT removed.id, ARRAY(SELECT e.id FROM task_executions e WHERE e.kind = 'upload' AND e.subject_id = removed.id),
          paste.id, removed.created_at, removed.failed_at, removed.failure_reason, ${callerAs('by_actor')}, why
        FROM removed JOIN paste USING (short_code)
      )
      SELECT paste.short_code, paste.id, removed.id FROM paste JOIN removed USING (short_code) ORDER BY removed.id;
    END`,
};
