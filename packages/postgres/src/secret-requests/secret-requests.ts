import { MAX_OPEN_REQUESTS, secretRequest, transition, type SecretRequestState } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Actor } from '../database/actor.ts';
import type { Database } from '../database/database.ts';
import { callerAs, literal, type OwnerFunction } from '../database/objects.ts';
import { toPage, type Page, type PageRequest, type Place } from '../database/page.ts';

const useUp = transition(secretRequest, 'OPEN', 'USED_UP');
const cancel = transition(secretRequest, 'OPEN', 'CANCELLED');

export interface SecretRequest {
  readonly id: string;
  /** The id in the link. */
  readonly code: string;
  /** Who asks. */
  readonly userId: string;
  readonly userName: string;
  /** What the identity provider calls the user; null: nothing. */
  readonly shownName: string | null;
  /** null: none. */
  readonly message: string | null;
  readonly places: number;
  readonly taken: number;
  readonly status: SecretRequestState;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly isExpired: boolean;
}

const columns = sql`r.id, r.code, r.user_id AS "userId", u.name AS "userName", u.shown_name AS "shownName", r.message, r.places, r.taken,
  r.status, r.created_at AS "createdAt", r.expires_at AS "expiresAt", r.expires_at <= clock_timestamp() AS "isExpired"`;

/** The requests of users who are not erased. */
const requests = sql`FROM secret_requests r JOIN users u ON u.id = r.user_id AND u.erased_at IS NULL`;

export interface NewSecretRequest {
  /** 22 characters that nobody can guess. */
  readonly code: string;
  readonly userId: string;
  readonly message: string | null;
  readonly places: number;
  /** From now, by the clock of Postgres. */
  readonly expiresInSeconds: number;
}

/**
 * Inserts a request for secrets. Two of one user at the same moment may both have the last place of `MAX_OPEN_REQUESTS`.
 * @returns its times; null: the user has so many open requests, or is erased
 */
export async function createSecretRequest(
  db: Database,
  { code, userId, message, places, expiresInSeconds }: NewSecretRequest,
): Promise<{ readonly createdAt: Date; readonly expiresAt: Date } | null> {
  const { rows } = await sql<{ createdAt: Date; expiresAt: Date }>`
    INSERT INTO secret_requests (code, user_id, message, places, expires_at)
    SELECT ${code}, ${userId}::uuid, ${message}::text, ${places}::smallint, now() + make_interval(secs => ${expiresInSeconds})
    WHERE user_stands(${userId}::uuid) AND ${MAX_OPEN_REQUESTS} > (
      SELECT count(*) FROM secret_requests WHERE user_id = ${userId}::uuid AND status = 'OPEN' AND expires_at > now())
    RETURNING created_at AS "createdAt", expires_at AS "expiresAt"`.execute(db);
  return rows[0] ?? null;
}

/** The request with this code, in any state; null: there is none, or its user is erased. */
export async function findSecretRequest(db: Database, code: string): Promise<SecretRequest | null> {
  const { rows } = await sql<SecretRequest>`SELECT ${columns} ${requests} WHERE r.code = ${code}`.execute(db);
  return rows[0] ?? null;
}

/** The requests of a user in any state, newest first. */
export async function listSecretRequests(
  db: Database,
  userId: string,
  { limit, after }: PageRequest,
): Promise<Page<SecretRequest & { readonly place: Place }>> {
  const older = after && sql`AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<SecretRequest & { place: Place }>`
    SELECT ${columns}, json_build_object('createdAt', r.created_at::text, 'id', r.id) AS place ${requests}
    WHERE r.user_id = ${userId}::uuid ${older ?? sql``} ORDER BY r.created_at DESC, r.id DESC LIMIT ${limit + 1}`.execute(
    db,
  );
  return toPage(rows, limit);
}

/** A place of a request, which one deposit has and none gets after it. */
export interface TakenPlace {
  readonly requestId: string;
  readonly userId: string;
  /** From 1. */
  readonly number: number;
}

/**
 * Takes a place for a deposit, in the transaction that inserts the paste: of any number at once each gets another place,
 * and when the transaction fails, the place is free. The last place ends the request (OPEN → USED_UP).
 * @returns null: the request takes no deposit, or does not exist
 */
export async function takePlace(tx: Database, code: string, actor: Actor): Promise<TakenPlace | null> {
  const { rows } = await sql<TakenPlace>`
    SELECT of_request AS "requestId", of_user AS "userId", place AS number FROM take_place(${code}, ${actor})`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/**
 * The api has no right to change a request, so this is a function of the owner. The lock on the request comes before
 * those of its user and of the paste. `clock_timestamp()`, because the statement may have waited for the lock.
 */
export const takePlaceFunction: OwnerFunction = {
  name: 'take_place',
  parameters: 'of_code text, by_actor text',
  returns: 'TABLE (of_request uuid, of_user uuid, place integer)',
  body: `
    BEGIN
      PERFORM set_config('pasteflow.actor', ${callerAs('by_actor')}, true), set_config('pasteflow.reason', '', true);
      RETURN QUERY
        UPDATE secret_requests r SET taken = taken + 1,
          status = CASE WHEN taken + 1 = places THEN ${literal(useUp.to)} ELSE status END,
          ended_at = CASE WHEN taken + 1 = places THEN clock_timestamp() END
        WHERE code = of_code AND status = ${literal(useUp.from)} AND expires_at > clock_timestamp()
        RETURNING r.id, r.user_id, r.taken::integer;
    END`,
};

/** Records the deposit of a paste that the same transaction has inserted. */
export async function insertDeposit(
  tx: Database,
  {
    requestId,
    number,
    shortCode,
    wrappedKey,
  }: Pick<TakenPlace, 'requestId' | 'number'> & { readonly shortCode: string; readonly wrappedKey: Buffer },
): Promise<void> {
  await tx
    .insertInto('deposits')
    .values({ request_id: requestId, number, short_code: shortCode, wrapped_key: wrappedKey })
    .execute();
}

export interface Deposit {
  readonly number: number;
  readonly shortCode: string;
  readonly wrappedKey: Buffer;
  readonly createdAt: Date;
}

/** The deposits of a request in their order, also those whose pastes have ended: the rows of these are still there. */
export async function listDeposits(db: Database, requestId: string): Promise<readonly Deposit[]> {
  const { rows } = await sql<Deposit>`
    SELECT number, short_code AS "shortCode", wrapped_key AS "wrappedKey", created_at AS "createdAt"
    FROM deposits WHERE request_id = ${requestId}::uuid ORDER BY number`.execute(db);
  return rows;
}

/** The deposits of a request without their keys, for operators: the receipts that were given for them. */
export async function listReceipts(
  db: Database,
  requestId: string,
): Promise<readonly Omit<Deposit, 'wrappedKey'>[]> {
  return await db
    .selectFrom('deposits')
    .select(['number', 'short_code as shortCode', 'created_at as createdAt'])
    .where('request_id', '=', requestId)
    .orderBy('number')
    .execute();
}

/** The code of the request that this paste was deposited for; null: it is no deposit. */
export async function findRequestOf(db: Database, shortCode: string): Promise<string | null> {
  const row = await db
    .selectFrom('deposits as d')
    .innerJoin('secret_requests as r', 'r.id', 'd.request_id')
    .select('r.code')
    .where('d.short_code', '=', shortCode)
    .executeTakeFirst();
  return row?.code ?? null;
}

/**
 * OPEN → CANCELLED. The deposits stay. A deposit at the same moment comes before, or finds no place.
 * @param userId whose the request must be; null: an operator closes it
 * @returns whether this call has cancelled it; false: it was not OPEN, or is somebody else's
 */
export async function cancelSecretRequest(
  db: Database,
  code: string,
  {
    userId,
    actor,
    reason,
  }: { readonly userId: string | null; readonly actor: Actor; readonly reason: string },
): Promise<boolean> {
  const { rows } = await sql<{ cancelled: boolean }>`
    SELECT cancel_secret_request(${code}, ${userId}::uuid, ${actor}, ${reason}) AS cancelled`.execute(db);
  return rows[0]?.cancelled === true;
}

export const cancelSecretRequestFunction: OwnerFunction = {
  name: 'cancel_secret_request',
  parameters: 'of_code text, by_user uuid, by_actor text, why text',
  returns: 'boolean',
  body: `
    BEGIN
      PERFORM set_config('pasteflow.actor', ${callerAs('by_actor')}, true), set_config('pasteflow.reason', why, true);
      UPDATE secret_requests SET status = ${literal(cancel.to)}, ended_at = clock_timestamp()
        WHERE code = of_code AND status = ${literal(cancel.from)} AND (by_user IS NULL OR user_id = by_user);
      RETURN FOUND;
    END`,
};
