import { contentOptionNames, pasteDeletion, transition } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import { affectedRows, type Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';

const claim = transition(pasteDeletion, 'NOT_EXPIRED', 'DELETION_IN_PROGRESS');
const finish = transition(pasteDeletion, 'DELETION_IN_PROGRESS', 'DELETED');
const release = transition(pasteDeletion, 'DELETION_IN_PROGRESS', 'NOT_EXPIRED');

/*
 * Each statement finds its pastes in a CTE that locks them, and then changes those. The lock makes Postgres compare the newest version of
 * the row with the conditions of the CTE, so the UPDATE needs none of its own.
 *
 * The searches read the times, because the indexes have them. CHECKs bind the times to the states: a paste without
 * `deletion_initiated_at` is NOT_EXPIRED, and one with `deleted_at` is DELETED.
 */

/**
 * When the cleanup may claim a paste: from the request on, or when the paste expires; NULL: never. The
 * expression of the index `pastes_due`.
 */
const dueAt = sql`coalesce(p.deletion_requested_at, p.expires_at)`;

const name = sql<string>`p.id::text`;

/** `title = NULL, syntax = NULL` */
const emptied = sql.join(contentOptionNames.map((option) => sql`${sql.ref(option)} = NULL`));

export interface ClaimedDeletion {
  readonly id: string;
  readonly shortCode: string;
  /**
   * When this claim was made, in microseconds. Fences the settlement: a claim that was reset and made again
   * has another time.
   */
  readonly claimedAt: string;
}

export function searchExpired(portion: Portion): RawBuilder<unknown> {
  return sql`
      SELECT p.id, p.id::text AS name FROM pastes p
      WHERE p.deletion_initiated_at IS NULL AND ${dueAt} <= now() AND p.status <> 'IN_PROGRESS' AND ${within(name, portion)}
      ORDER BY ${dueAt}, p.id LIMIT ${portion.limit}`;
}

/**
 * Claims up to `limit` pastes whose deletion was asked for, or that have expired (NOT_EXPIRED →
 * DELETION_IN_PROGRESS): first what is due longest. Only pastes whose upload has settled are claimed: a late
 * put would leave an object behind. Concurrent janitors skip rows that another one is claiming.
 */
export async function claimExpired(
  db: Database,
  { actor, ...portion }: { actor: Actor } & Portion,
): Promise<readonly ClaimedDeletion[]> {
  const { rows } = await sql<ClaimedDeletion>`
    WITH ${byActor(actor, 'expired')},
    due AS MATERIALIZED (
      SELECT found.id FROM actor, (${searchExpired(portion)} FOR UPDATE SKIP LOCKED) AS found
    )
    UPDATE pastes p SET deletion_status = ${claim.to}, deletion_initiated_at = now()
    WHERE p.id = ANY (ARRAY(SELECT id FROM due))
    RETURNING p.id, p.short_code AS "shortCode", p.deletion_initiated_at::text AS "claimedAt"`.execute(db);
  return rows;
}

export function searchBurned({
  afterSeconds,
  ...portion
}: { afterSeconds: number } & Portion): RawBuilder<unknown> {
  return sql`
      SELECT p.id, p.id::text AS name FROM pastes p
      WHERE p.deletion_initiated_at < now() - make_interval(secs => ${afterSeconds}) AND p.deleted_at IS NULL
        AND p.burned_at IS NOT NULL AND ${within(name, portion)}
      ORDER BY p.deletion_initiated_at, p.id LIMIT ${portion.limit}`;
}

/**
 * Takes over up to `limit` pastes that a reveal claimed more than `afterSeconds` ago, oldest claim first.
 * The state stays, and the time of the claim is now that of this one: no other janitor finds the paste, and a
 * janitor that crashes is followed by another one after the same time.
 */
export async function takeOverBurned(
  db: Database,
  burned: { afterSeconds: number } & Portion,
): Promise<readonly ClaimedDeletion[]> {
  const { rows } = await sql<ClaimedDeletion>`
    WITH burned AS MATERIALIZED (
      ${searchBurned(burned)} FOR UPDATE SKIP LOCKED
    )
    UPDATE pastes p SET deletion_initiated_at = now()
    FROM burned WHERE p.id = burned.id
    RETURNING p.id, p.short_code AS "shortCode", p.deletion_initiated_at::text AS "claimedAt"`.execute(db);
  return rows;
}

/**
 * DELETION_IN_PROGRESS → DELETED for claims that are still valid. Removes the options that tell of the content,
 * the payload of a FAILED paste, and the open reports as well.
 * @returns how many pastes it moved; fewer than asked when the watchdog has reset claims
 */
export async function settleDeleted(
  db: Database,
  claims: readonly ClaimedDeletion[],
  actor: Actor,
): Promise<number> {
  if (claims.length === 0) return 0;
  const result = await sql`
    WITH ${byActor(actor, 'object deleted')}, ${heldClaims(claims)}, forgotten AS (
      DELETE FROM failed_payloads WHERE paste_id IN (SELECT id FROM held)
    ), moot AS (
      DELETE FROM paste_reports WHERE paste_id IN (SELECT id FROM held) AND judged_at IS NULL
    )
    UPDATE pastes p SET deletion_status = ${finish.to}, deleted_at = now(), ${emptied}
    FROM held WHERE p.id = held.id`.execute(db);
  return affectedRows(result);
}

/**
 * DELETION_IN_PROGRESS → NOT_EXPIRED for claims whose object could not be deleted. The next cleanup claims
 * these pastes again.
 * @returns how many pastes it moved
 */
export async function releaseClaims(
  db: Database,
  claims: readonly ClaimedDeletion[],
  { actor, reason }: { actor: Actor; reason: string },
): Promise<number> {
  if (claims.length === 0) return 0;
  const result = await sql`
    WITH ${byActor(actor, reason)}, ${heldClaims(claims)}
    UPDATE pastes p SET deletion_status = ${release.to}, deletion_initiated_at = NULL
    FROM held WHERE p.id = held.id`.execute(db);
  return affectedRows(result);
}

/** Locks, the newest first as everybody does, the pastes of those claims that are still valid. */
function heldClaims(claims: readonly ClaimedDeletion[]) {
  return sql`
    held AS MATERIALIZED (
      SELECT p.id FROM actor, pastes p
      JOIN unnest(${claims.map((c) => c.id)}::uuid[], ${claims.map((c) => c.claimedAt)}::timestamptz[]) AS claim (id, claimed_at)
        ON p.id = claim.id AND p.deletion_initiated_at = claim.claimed_at
      WHERE p.deletion_status = 'DELETION_IN_PROGRESS'
      ORDER BY p.id DESC FOR UPDATE OF p
    )`;
}

export function searchStuckDeletions({
  stuckAfterSeconds,
  ...portion
}: { stuckAfterSeconds: number } & Portion): RawBuilder<unknown> {
  return sql`
      SELECT p.id, p.id::text AS name FROM pastes p
      WHERE p.deletion_initiated_at < now() - make_interval(secs => ${stuckAfterSeconds}) AND p.deleted_at IS NULL
        AND ${within(name, portion)}
      ORDER BY p.deletion_initiated_at, p.id LIMIT ${portion.limit}`;
}

/**
 * DELETION_IN_PROGRESS for longer than `stuckAfterSeconds` → NOT_EXPIRED, up to `limit` rows.
 * @returns how many rows it moved
 */
export async function resetStuckDeletions(
  db: Database,
  { actor, ...stuck }: { actor: Actor; stuckAfterSeconds: number } & Portion,
): Promise<number> {
  const result = await sql`
    WITH ${byActor(actor, 'claimed too long')},
    stuck AS MATERIALIZED (
      SELECT found.id FROM actor, (${searchStuckDeletions(stuck)} FOR UPDATE SKIP LOCKED) AS found
    )
    UPDATE pastes p SET deletion_status = ${release.to}, deletion_initiated_at = NULL
    FROM stuck WHERE p.id = stuck.id`.execute(db);
  return affectedRows(result);
}
