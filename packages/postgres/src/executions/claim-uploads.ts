import { taskExecution, transition } from '@pasteflow/domain';
import { sql } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { opaqueState } from './opaque-state.ts';

const claim = transition(taskExecution, 'PENDING', 'RUNNING');

export interface ClaimedUpload {
  readonly shortCode: string;
  readonly executionId: string;
  readonly pasteId: string;
  readonly attempt: number;
  readonly contentHash: string;
  readonly sizeBytes: number;
}

/** What a message turned out to stand for. */
export type UploadClaim =
  | { readonly kind: 'claimed'; readonly upload: ClaimedUpload }
  /** Not to be done now: not due yet, or running elsewhere. Look again after `waitMs`. */
  | { readonly kind: 'not_now'; readonly waitMs: number }
  /** Nothing is open any more: the upload has settled, or its paste is gone. */
  | { readonly kind: 'ended' };

interface ClaimRow {
  shortCode: string;
  executionId: string | null;
  pasteId: string | null;
  attempt: number;
  contentHash: string;
  sizeBytes: number;
  open: boolean;
  waitMs: number | null;
}

/**
 * Claims what is due of a batch of uploads (PENDING → RUNNING) in one statement.
 *
 * Of two workers at once one gets the row: the other waits the millisecond until that has committed, and finds it RUNNING. It waits
 * rather than skip what is locked, because the lock may be the api's, which stamps the execution as dispatched while its message is
 * already here: skipped, one paste in eight came back a whole lease later. The state stands again in the outer WHERE, and the CTE is
 * MATERIALIZED, because a plain `IN (SELECT … FOR UPDATE)` may be run more than once. Locks are taken in id order, so that two
 * batches can't deadlock. What is open but was not claimed is told from the statement's snapshot; due in it, it has just been claimed
 * by someone else and counts as running for a whole lease. Past its lease it waits for the reaper, a second at a time: given back at
 * once, its message would be back at once, and after a hundred times in the dead-letter queue.
 */
export async function claimUploads(
  db: Database,
  { shortCodes, actor, leaseSeconds }: { shortCodes: readonly string[]; actor: Actor; leaseSeconds: number },
): Promise<ReadonlyMap<string, UploadClaim>> {
  const { rows } = await sql<ClaimRow>`
    WITH ${byActor(actor, 'claimed')},
    asked AS MATERIALIZED (
      SELECT p.id, p.short_code, p.content_hash, p.size_bytes, e.id AS execution_id, e.status, e.run_at, e.lease_expires_at
      FROM actor, pastes p LEFT JOIN task_executions e
        ON e.subject_id = p.id AND e.kind = 'upload' AND ${opaqueState('e')} IN ('PENDING', 'RUNNING')
      WHERE p.short_code = ANY (${shortCodes})
    ), due AS MATERIALIZED (
      SELECT e.id FROM task_executions e
      WHERE e.id IN (SELECT execution_id FROM asked) AND ${opaqueState('e')} = ${claim.from} AND e.run_at <= now()
      ORDER BY e.id FOR UPDATE
    ), claimed AS (
      UPDATE task_executions e
      SET status = ${claim.to}, worker_id = ${actor}, started_at = now(), dispatched_at = coalesce(e.dispatched_at, now()),
        lease_expires_at = now() + make_interval(secs => ${leaseSeconds})
      FROM due WHERE e.id = due.id AND ${opaqueState('e')} = ${claim.from}
      RETURNING e.id, e.subject_id, e.attempt
    )
    SELECT asked.short_code AS "shortCode", claimed.id AS "executionId", asked.id AS "pasteId", claimed.attempt,
      asked.content_hash AS "contentHash", asked.size_bytes AS "sizeBytes", asked.status IS NOT NULL AS open,
      (extract(epoch FROM CASE
        WHEN asked.status = 'RUNNING' THEN greatest(asked.lease_expires_at, now() + interval '1 second')
        WHEN asked.run_at > now() THEN asked.run_at
        ELSE now() + make_interval(secs => ${leaseSeconds}) END - now()) * 1000)::float8 AS "waitMs"
    FROM asked LEFT JOIN claimed ON claimed.subject_id = asked.id`.execute(db);
  return new Map(rows.map((row) => [row.shortCode, toClaim(row)]));
}

function toClaim(row: ClaimRow): UploadClaim {
  const { shortCode, executionId, pasteId, attempt, contentHash, sizeBytes } = row;
  if (executionId !== null && pasteId !== null) {
    return { kind: 'claimed', upload: { shortCode, executionId, pasteId, attempt, contentHash, sizeBytes } };
  }
  return row.open ? { kind: 'not_now', waitMs: Math.max(0, Math.ceil(row.waitMs ?? 0)) } : { kind: 'ended' };
}
