import { sql, type RawBuilder } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import { within, type Aged } from '../database/one-row.ts';
import { prepared } from '../database/prepared.ts';

/** A row of `idempotency_keys`. */
interface IdempotencyKey {
  /** `user:<uuid>` or `address:<ip>`. */
  readonly caller: string;
  /** SHA-256. */
  readonly keyHash: Buffer;
}

/** A key that a request has claimed. */
export interface HeldKey extends IdempotencyKey {
  /** A UUID of this request: the fencing token. */
  readonly claimId: string;
}

export interface KeyClaim extends HeldKey {
  /** SHA-256 of the content of the request. */
  readonly fingerprint: Buffer;
  /** The claim expires after this time if there is no answer. */
  readonly holdSeconds: number;
  /** The answer expires after this time. */
  readonly retentionSeconds: number;
}

/** What a request finds when it claims a key. */
export type ClaimedKey =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'answered'; readonly fingerprint: Buffer; readonly answer: Buffer }
  | {
      readonly kind: 'running';
      readonly fingerprint: Buffer;
      /** The time until the claim expires. */
      readonly secondsLeft: number;
    };

/**
 * A claim that lasts for longer than so much beyond its time was made while the clock of Postgres was ahead.
 * No statement waits for so long.
 */
const AHEAD_SECONDS = 60;

/**
 * Claims a key that is new, or whose claim has expired without an answer, or whose answer has expired.
 * Otherwise returns what the key has.
 *
 * The row is written in each case, if only with its own values: RETURNING then has the latest version of the
 * row. With the condition in a WHERE, a refused claim would return nothing, and a SELECT in the same
 * statement would read the snapshot, in which a row that was just claimed still has the expired answer.
 */
export async function claimIdempotencyKey(db: Database, claim: KeyClaim): Promise<ClaimedKey> {
  const free = sql`(CASE WHEN k.answer IS NULL THEN k.claimed_until NOT BETWEEN now() AND now() + make_interval(secs => ${claim.holdSeconds + AHEAD_SECONDS})
    ELSE k.created_at <= now() - make_interval(secs => ${claim.retentionSeconds}) END)`;
  const { rows } = await sql<{
    mine: boolean;
    fingerprint: Buffer;
    answer: Buffer | null;
    seconds_left: number;
  }>`${prepared}
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

/** Whether a request has claimed the key and was answered, or runs. */
export async function hasIdempotencyKey(db: Database, { caller, keyHash }: IdempotencyKey): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM idempotency_keys WHERE caller = ${caller} AND key_hash = ${keyHash}`.execute(db);
  return rows.length > 0;
}

/**
 * Stores the answer if this request still holds the key. Execute this last in the transaction that does the
 * work: the row stays locked until the commit, and requests with the same key wait for the commit.
 * @returns false when the claim has expired and another request has claimed the key; roll back
 */
export async function answerIdempotencyKey(
  tx: Database,
  { caller, keyHash, claimId }: HeldKey,
  answer: Buffer,
): Promise<boolean> {
  const { numAffectedRows } = await sql`${prepared}
    UPDATE idempotency_keys SET answer = ${answer}
    WHERE caller = ${caller} AND key_hash = ${keyHash} AND claim_id = ${claimId} AND answer IS NULL`.execute(
    tx,
  );
  return numAffectedRows === 1n;
}

/**
 * `answerIdempotencyKey` for several keys, in one statement.
 * @returns how many of the requests still held their keys; roll back when it is not all of them
 */
export async function answerIdempotencyKeys(
  tx: Database,
  answers: readonly (HeldKey & { readonly answer: Buffer })[],
): Promise<number> {
  const [only] = answers;
  if (only === undefined) return 0;
  // The prepared statement takes a quarter of the time. A kept plan for several keys would read the whole
  // table.
  if (answers.length === 1) return Number(await answerIdempotencyKey(tx, only, only.answer));
  const result = await sql`
    UPDATE idempotency_keys k SET answer = kept.answer
    FROM unnest(
      ${answers.map(({ caller }) => caller)}::text[],
      ${answers.map(({ keyHash }) => keyHash)}::bytea[],
      ${answers.map(({ claimId }) => claimId)}::uuid[],
      ${answers.map(({ answer }) => answer)}::bytea[]
    ) AS kept (caller, key_hash, claim_id, answer)
    WHERE k.caller = kept.caller AND k.key_hash = kept.key_hash AND k.claim_id = kept.claim_id AND k.answer IS NULL`.execute(
    tx,
  );
  return affectedRows(result);
}

/**
 * Releases a key after a failure. If a commit succeeded and only its confirmation was lost, there is an
 * answer, which stays.
 * @returns false when there was no claim to release
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

/** Names a key without the name of its caller: the SHA-256 of the key. */
export function searchOldIdempotencyKeys({ retentionSeconds, ...portion }: Aged): RawBuilder<unknown> {
  const name = sql<string>`encode(key_hash, 'hex')`;
  return sql`
      SELECT caller, key_hash, ${name} AS name FROM idempotency_keys
      WHERE created_at <= now() - make_interval(secs => ${retentionSeconds}) AND claimed_until <= now() AND ${within(name, portion)}
      ORDER BY created_at LIMIT ${portion.limit}`;
}

/**
 * Removes up to `limit` keys that were first claimed more than `retentionSeconds` ago and are not running.
 * @returns how many keys it removed
 */
export async function removeOldIdempotencyKeys(db: Database, old: Aged): Promise<number> {
  const result = await sql`
    WITH old AS MATERIALIZED (
      ${searchOldIdempotencyKeys(old)} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM idempotency_keys k USING old WHERE k.caller = old.caller AND k.key_hash = old.key_hash`.execute(
    db,
  );
  return affectedRows(result);
}
