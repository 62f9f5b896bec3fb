import { defaultRetryPolicy, maxAttempts, retryDelayMs, transition } from '@pasteflow/domain';
import type { Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { email } from './email.ts';

const claimed = transition(email, 'QUEUED', 'SENDING');
const sent = transition(email, 'SENDING', 'SENT');
const queuedAgain = transition(email, 'SENDING', 'QUEUED');
const failed = transition(email, 'SENDING', 'FAILED');

export interface ClaimedEmail {
  readonly id: string;
  readonly recipient: string;
  readonly body: string;
  readonly attempt: number;
  /** The fencing token: new for each claim, and gone once the claim has ended. */
  readonly claim: string;
}

/** @returns null when the e-mail is not due, has ended, or belongs to another worker */
export async function claimEmail(
  db: Database,
  id: string,
  leaseSeconds: number,
): Promise<ClaimedEmail | null> {
  const { rows } = await sql<ClaimedEmail>`
    UPDATE emails SET status = ${claimed.to}, claim = gen_random_uuid(), claimed_at = now(),
      lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    WHERE id = ${id} AND status = ${claimed.from} AND run_at <= now()
    RETURNING id, recipient, body, attempt, claim`.execute(db);
  return rows[0] ?? null;
}

/**
 * Ends a claim: the e-mail was sent (`error` is null), waits for its next attempt, or has failed for good.
 * @returns false when the claim has ended before: the worker was late, and nothing was changed
 */
export async function settleEmail(
  db: Database,
  { id, claim, attempt }: ClaimedEmail,
  error: string | null,
): Promise<boolean> {
  const delayMs = error === null ? null : retryDelayMs(defaultRetryPolicy, attempt, Math.random());
  const next = error === null ? sent : delayMs === null ? failed : queuedAgain;
  const { numAffectedRows } = await sql`
    UPDATE emails SET status = ${next.to}, error = ${error}, claim = NULL, lease_expires_at = NULL,
      attempt = attempt + ${next === queuedAgain ? 1 : 0}, dispatched_at = NULL,
      run_at = now() + make_interval(secs => ${(delayMs ?? 0) / 1000})
    WHERE id = ${id} AND status = ${next.from} AND claim = ${claim}`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * Ends the claims of crashed workers. A crash spends an attempt, so that an e-mail that crashes every worker
 * comes to its end. SKIP LOCKED leaves alone what its worker is settling.
 * @returns the number of e-mails
 */
export async function rescueEmails(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    WITH expired AS MATERIALIZED (
      SELECT id FROM emails WHERE lease_expires_at < now() ORDER BY lease_expires_at LIMIT 100 FOR UPDATE SKIP LOCKED
    )
    UPDATE emails e SET error = 'worker lost', claim = NULL, lease_expires_at = NULL, dispatched_at = NULL, run_at = now(),
      status = CASE WHEN attempt < ${maxAttempts(defaultRetryPolicy)} THEN ${queuedAgain.to} ELSE ${failed.to} END,
      attempt = least(attempt + 1, ${maxAttempts(defaultRetryPolicy)})
    FROM expired WHERE e.id = expired.id AND e.status = ${queuedAgain.from}`.execute(db);
  return Number(numAffectedRows);
}

/** The due e-mails without a message, or with one that a queue has lost: 100 at most. */
export async function findUndispatched(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM emails WHERE status = ${claimed.from} AND run_at <= now()
      AND (dispatched_at IS NULL OR dispatched_at < now() - interval '1 minute')
    ORDER BY run_at LIMIT 100`.execute(db);
  return rows.map(({ id }) => id);
}

export async function stampDispatched(db: Database, ids: readonly string[]): Promise<void> {
  await sql`
    UPDATE emails SET dispatched_at = now() WHERE id = ANY (${ids}::uuid[]) AND status = ${claimed.from} AND run_at <= now()`.execute(
    db,
  );
}
