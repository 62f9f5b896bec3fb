import { sql } from 'kysely';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

/** A row of `idempotency_keys`. */
interface IdempotencyKey {
  /** `user:<uuid>` or `address:<ip>`. */
  readonly caller: string;
  /** SHA-256. */
  readonly keyHash: Buffer;
}

/** The key as one request holds it. */
export interface HeldKey extends IdempotencyKey {
  /** A UUID of that request's own: the fence. */
  readonly claimId: string;
}

export interface KeyClaim extends HeldKey {
  /** SHA-256 of what the request says. */
  readonly fingerprint: Buffer;
  /** After this the claim lapses, if there is no answer by then. */
  readonly holdSeconds: number;
  /** After this an answer is forgotten. */
  readonly retentionSeconds: number;
}

/** What is there when a request comes with a key. */
export type ClaimedKey =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'answered'; readonly fingerprint: Buffer; readonly answer: Buffer }
  | {
      readonly kind: 'running';
      readonly fingerprint: Buffer;
      /** Until the claim lapses, if there is no answer by then. */
      readonly secondsLeft: number;
    };

/**
 * Claims a key that is new, or whose claim has lapsed without an answer, or whose answer is past its retention; else says what is there. The
 * row is written in any case, if only with what it holds already: RETURNING then tells of its latest version. With the condition in a WHERE
 * a refused claim returns nothing, and a SELECT beside it reads the statement's snapshot, where a row just taken over still has the answer
 * that was too old to give.
 */
export async function claimIdempotencyKey(db: Database, claim: KeyClaim): Promise<ClaimedKey> {
  const free = sql`(CASE WHEN k.answer IS NULL THEN k.claimed_until <= now()
    ELSE k.created_at <= now() - make_interval(secs => ${claim.retentionSeconds}) END)`;
  const { rows } = await sql<{
    mine: boolean;
    fingerprint: Buffer;
    answer: Buffer | null;
    seconds_left: number;
  }>`
    INSERT INTO idempotency_keys AS k (caller, key_hash, fingerprint, claim_id, claimed_until)
    VALUES (${claim.caller}, ${claim.keyHash}, ${claim.fingerprint}, ${claim.claimId},
      now() + make_interval(secs => ${claim.holdSeconds}))
    ON CONFLICT (caller, key_hash) DO UPDATE SET
      fingerprint = CASE WHEN ${free} THEN excluded.fingerprint ELSE k.fingerprint END,
      claim_id = CASE WHEN ${free} THEN excluded.claim_id ELSE k.claim_id END,
      claimed_until = CASE WHEN ${free} THEN excluded.claimed_until ELSE k.claimed_until END,
      answer = CASE WHEN ${free} THEN NULL ELSE k.answer END,
      created_at = CASE WHEN ${free} THEN excluded.created_at ELSE k.created_at END
    RETURNING k.claim_id = ${claim.claimId} AS mine, k.fingerprint, k.answer,
      extract(epoch FROM k.claimed_until - now())::float8 AS seconds_left`.execute(db);
  const [row] = rows;
  if (row === undefined || row.mine) return { kind: 'claimed' };
  const { fingerprint, answer, seconds_left: secondsLeft } = row;
  return answer === null
    ? { kind: 'running', fingerprint, secondsLeft }
    : { kind: 'answered', fingerprint, answer };
}

/**
 * Keeps the answer, for the one that still holds the key. It goes last into the transaction that does what the answer tells of: the row stays
 * locked from here to the commit, and whoever comes with the same key waits for that.
 * @returns false when the claim has lapsed and another request has taken the key over: roll back
 */
export async function answerIdempotencyKey(
  tx: Database,
  { caller, keyHash, claimId }: HeldKey,
  answer: Buffer,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE idempotency_keys SET answer = ${answer}
    WHERE caller = ${caller} AND key_hash = ${keyHash} AND claim_id = ${claimId} AND answer IS NULL`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/**
 * Gives a key back after a failure. A commit whose confirmation was lost has left an answer, and that one stays. @returns false when there
 * was nothing to give back
 */
export async function releaseIdempotencyKey(
  db: Database,
  { caller, keyHash, claimId }: HeldKey,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM idempotency_keys
    WHERE caller = ${caller} AND key_hash = ${keyHash} AND claim_id = ${claimId} AND answer IS NULL`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

/** Removes up to `limit` keys that first came more than `retentionSeconds` ago, but none that is running. @returns how many */
export async function removeOldIdempotencyKeys(
  db: Database,
  { retentionSeconds, limit }: { retentionSeconds: number; limit: number },
): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT caller, key_hash FROM idempotency_keys
      WHERE created_at <= now() - make_interval(secs => ${retentionSeconds}) AND claimed_until <= now()
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM idempotency_keys k USING old WHERE k.caller = old.caller AND k.key_hash = old.key_hash`.execute(
    db,
  );
  return affectedRows(result);
}
