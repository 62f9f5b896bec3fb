import { sql } from 'kysely';
import {
  INTERRUPTED,
  pasteUpload,
  taskExecution,
  transition,
  type AttemptOutcome,
  type NextStep,
} from '@pasteflow/domain';
import { byActor, type Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { opaqueState } from './opaque-state.ts';

const succeed = transition(taskExecution, 'RUNNING', 'SUCCEEDED');
const fail = transition(taskExecution, 'RUNNING', 'FAILED');
const store = transition(pasteUpload, 'IN_PROGRESS', 'PROCESSED');
const giveUp = transition(pasteUpload, 'IN_PROGRESS', 'FAILED');

/** How an attempt at an upload ended; one that succeeded has left an object. */
export type UploadOutcome =
  { readonly kind: 'succeeded'; readonly s3Url: string } | Exclude<AttemptOutcome, { kind: 'succeeded' }>;

/** How one execution ended and what follows, as decided by the retry policy. */
export interface UploadSettlement {
  readonly executionId: string;
  readonly outcome: UploadOutcome;
  readonly nextStep: NextStep;
}

/** A settlement that counted. */
export interface SettledUpload {
  readonly executionId: string;
  readonly shortCode: string;
  /** The successor and when it is due, where there is one. */
  readonly successorId: string | null;
  readonly runAt: Date | null;
}

export interface SettleOptions {
  readonly actor: Actor;
  /** Settle only what is past its lease: for whoever settles in a dead worker's stead. */
  readonly onlyPastLease?: boolean;
  /** Successors count as dispatched: the caller gives their message back itself. Otherwise the relay sends one. */
  readonly dispatched: boolean;
}

/**
 * Ends a batch of executions in one statement: execution SUCCEEDED or FAILED; on success the paste PROCESSED with its URL and the payload
 * deleted; on failure the successor PENDING, or after the last attempt the paste FAILED and the payload deleted.
 *
 * A payload goes when nothing will try to put it any more, whatever state the paste is in: plain SQL may have moved it on meanwhile, and what is
 * counted by its payloads would be IN_PROGRESS for ever. An execution that leads to another keeps it.
 *
 * Fenced by the execution's id: only a RUNNING execution can be ended, once. Whatever is not in the result lost: it had been ended
 * by someone else, and nothing was changed for it. The successor is inserted from what was really ended, so that the unique index
 * on open executions sees the predecessor closed.
 */
export async function settleUploads(
  db: Database,
  settlements: readonly UploadSettlement[],
  { actor, onlyPastLease = false, dispatched }: SettleOptions,
): Promise<ReadonlyMap<string, SettledUpload>> {
  if (settlements.length === 0) return new Map();
  const { rows } = await sql<SettledUpload>`
    WITH ${byActor(actor)},
    ending AS MATERIALIZED (
      SELECT * FROM unnest(
        ${settlements.map((s) => s.executionId)}::uuid[],
        ${settlements.map((s) => errorOf(s.outcome))}::text[],
        ${settlements.map(({ outcome }) => (outcome.kind === 'succeeded' ? outcome.s3Url : null))}::text[],
        ${settlements.map((s) => (s.nextStep.kind === 'retry' ? s.nextStep.attempt : null))}::integer[],
        ${settlements.map((s) => (s.nextStep.kind === 'retry' ? s.nextStep.delayMs : null))}::float8[],
        ${settlements.map((s) => (s.nextStep.kind === 'give_up' ? s.nextStep.reason : null))}::text[]
      ) AS t (id, error, s3_url, next_attempt, delay_ms, give_up_reason), actor
    ), fenced AS MATERIALIZED (
      SELECT e.id FROM task_executions e
      WHERE e.id IN (SELECT id FROM ending) AND ${opaqueState('e')} = ${fail.from} AND (NOT ${onlyPastLease} OR e.lease_expires_at < now())
      ORDER BY e.id FOR UPDATE
    ), ended AS (
      UPDATE task_executions e
      SET status = CASE WHEN ending.error IS NULL THEN ${succeed.to} ELSE ${fail.to} END,
        error = ending.error, finished_at = now(), lease_expires_at = NULL
      FROM fenced JOIN ending USING (id)
      WHERE e.id = fenced.id AND ${opaqueState('e')} = ${fail.from}
      RETURNING e.id, e.kind, e.subject_id, ending.s3_url, ending.next_attempt, ending.delay_ms, ending.give_up_reason
    ), successor AS (
      INSERT INTO task_executions (kind, subject_id, attempt, run_at, dispatched_at)
      SELECT kind, subject_id, next_attempt, now() + make_interval(secs => delay_ms / 1000),
        CASE WHEN ${dispatched} THEN now() END
      FROM ended WHERE next_attempt IS NOT NULL
      RETURNING id, subject_id, run_at
    ), settled AS (
      UPDATE pastes p
      SET status = CASE WHEN ended.s3_url IS NOT NULL THEN ${store.to} ELSE ${giveUp.to} END,
        s3_url = ended.s3_url,
        processed_at = CASE WHEN ended.s3_url IS NOT NULL THEN now() END,
        failure_reason = ended.give_up_reason,
        failed_at = CASE WHEN ended.give_up_reason IS NOT NULL THEN now() END
      FROM ended
      WHERE p.id = ended.subject_id AND ended.next_attempt IS NULL AND p.status = ${store.from}
      RETURNING p.id
    ), spent AS (
      DELETE FROM paste_payloads WHERE paste_id IN (SELECT subject_id FROM ended WHERE next_attempt IS NULL)
    )
    SELECT ended.id AS "executionId", p.short_code AS "shortCode", successor.id AS "successorId", successor.run_at AS "runAt"
    FROM ended JOIN pastes p ON p.id = ended.subject_id
      LEFT JOIN successor ON successor.subject_id = ended.subject_id`.execute(db);
  return new Map(rows.map((row) => [row.executionId, row]));
}

function errorOf(outcome: UploadOutcome): string | null {
  switch (outcome.kind) {
    case 'succeeded':
      return null;
    case 'interrupted':
      return INTERRUPTED;
    case 'failed':
    case 'lost':
    case 'postponed':
      return outcome.error;
    default:
      return outcome satisfies never;
  }
}
