import {
  INLINE_CONTENT_BYTES,
  openStatesOf,
  pasteUpload,
  transition,
  type AttemptOutcome,
  type ContentEncoding,
  type PasteUploadState,
} from '@pasteflow/domain';
import { sql } from 'kysely';
import { anyOf } from '../database/planner.ts';
import type { ClaimedExecution } from '../executions/claim.ts';
import type { Settlement } from '../executions/settle.ts';
import type { ExecutionSubject } from '../executions/subject.ts';
import { UPLOADS } from '../executions/work-kinds.ts';

const store = transition(pasteUpload, 'IN_PROGRESS', 'PROCESSED');
const giveUp = transition(pasteUpload, 'IN_PROGRESS', 'FAILED');

export interface UploadName {
  readonly shortCode: string;
}

export interface ClaimedUpload extends ClaimedExecution, UploadName {
  readonly pasteId: string;
  readonly contentHash: string;
  readonly sizeBytes: number;
}

/** How an attempt at an upload ended. A successful attempt has stored an object. */
export type UploadOutcome = StoredUpload | Exclude<AttemptOutcome, { kind: 'succeeded' | 'yielded' }>;

interface StoredUpload {
  readonly kind: 'succeeded';
  readonly s3Url: string;
  /** How the object is compressed. Default: not at all. */
  readonly encoding?: ContentEncoding | null;
  /** The size of the object. Default: that of the content. */
  readonly storedBytes?: number;
}

export interface UploadSettlement extends Settlement {
  readonly outcome: UploadOutcome;
}

/** A PENDING execution that needs a message. */
export interface UnsentUpload extends UploadName {
  readonly executionId: string;
  /** The content, if it is small enough to travel inline; otherwise null. */
  readonly content: Buffer | null;
}

/**
 * Uploads, as the statements on executions see them.
 *
 * A payload is deleted when no attempt follows, in whatever state the paste is: plain SQL may have moved the
 * paste on meanwhile, and figures that count payloads would count the paste as IN_PROGRESS for ever. An
 * execution with a successor keeps the payload. The payload of a paste that FAILED is kept in
 * `failed_payloads`, for a retry by an operator (ADR 22).
 */
export const uploadSubject: ExecutionSubject<
  UploadName,
  ClaimedUpload,
  UploadSettlement,
  PasteUploadState,
  UnsentUpload
> = {
  kind: 'upload',
  workKind: sql`${sql.lit(UPLOADS)}`,
  selectByKeys: (shortCodes) => sql`
    SELECT id, short_code AS key, content_hash, size_bytes FROM pastes WHERE short_code = ${anyOf(shortCodes, 'text')}`,
  claimedColumns: sql`
    asked.key AS "shortCode", asked.id AS "pasteId", asked.content_hash AS "contentHash", asked.size_bytes AS "sizeBytes"`,
  onClaim: sql``,
  openState: store.from,
  successorColumns: {},
  openStates: openStatesOf(pasteUpload),
  selectOldestOpen: (limit) =>
    sql`SELECT paste_id AS id FROM paste_payloads ORDER BY paste_id LIMIT ${limit}`,
  executionColumns: {},
  endingColumns: (settlements) => ({
    s3_url: settlements.map(({ outcome }) => (outcome.kind === 'succeeded' ? outcome.s3Url : null)),
    stored_encoding: settlements.map(({ outcome }) =>
      outcome.kind === 'succeeded' ? (outcome.encoding ?? null) : null,
    ),
  }),
  onEnd: sql`, settled AS (
      UPDATE pastes p
      SET status = CASE WHEN ended.s3_url IS NOT NULL THEN ${store.to} ELSE ${giveUp.to} END,
        s3_url = ended.s3_url,
        stored_encoding = ended.stored_encoding,
        processed_at = CASE WHEN ended.s3_url IS NOT NULL THEN now() END,
        failure_reason = ended.give_up_reason,
        failed_at = CASE WHEN ended.give_up_reason IS NOT NULL THEN now() END
      FROM ended
      WHERE p.id = ended.subject_id AND p.id = ANY (ARRAY(SELECT subject_id FROM ended)) AND ended.next_attempt IS NULL AND p.status = ${store.from}
      RETURNING p.id, p.status
    ), kept AS (
      INSERT INTO failed_payloads (paste_id, content)
      SELECT payload.paste_id, payload.content FROM paste_payloads payload
      WHERE payload.paste_id = ANY (ARRAY(SELECT id FROM settled WHERE status = ${giveUp.to}))
    ), spent AS (
      DELETE FROM paste_payloads WHERE paste_id = ANY (ARRAY(SELECT subject_id FROM ended WHERE next_attempt IS NULL))
    )`,
  table: 'pastes',
  nameColumns: sql`subject.short_code AS "shortCode"`,
  messageColumns: sql`subject.short_code AS "shortCode", payload.content`,
  messageJoin: sql`
    LEFT JOIN paste_payloads payload ON payload.paste_id = subject.id AND subject.size_bytes <= ${INLINE_CONTENT_BYTES}`,
};
