import { MAX_WEBHOOKS, type WebhookEventType } from '@pasteflow/domain';
import { sql } from 'kysely';
import { affectedRows, type Database } from '../database/database.ts';
import type { SwitchedOffFor } from '../schema/webhooks.ts';

export interface WebhookEndpoint {
  readonly id: string;
  /** null: an endpoint of the operators. */
  readonly userId: string | null;
  /** A secret: never logged. */
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  /** Of the secret, from 1. */
  readonly generation: number;
  readonly createdAt: Date;
  /** null: never. */
  readonly rotatedAt: Date | null;
  /** Since when no delivery has succeeded while others failed; null: the last one succeeded, or there was none. */
  readonly failingSince: Date | null;
  /** null: it is on. */
  readonly switchedOffAt: Date | null;
  readonly switchedOffFor: SwitchedOffFor | null;
}

const columns = sql`id, user_id AS "userId", url, events, generation, created_at AS "createdAt", rotated_at AS "rotatedAt",
  failing_since AS "failingSince", switched_off_at AS "switchedOffAt", switched_off_for AS "switchedOffFor"`;

/** Whose endpoints: those of a user, or of the operators (null). */
const ownedBy = (userId: string | null) =>
  sql`${userId === null ? sql`user_id IS NULL` : sql`user_id = ${userId}::uuid`} AND removed_at IS NULL`;

/**
 * The lock makes two of one user at the same moment wait for each other, so that there are never more than `MAX_WEBHOOKS`.
 * @returns null: there are so many already, or the user is erased
 */
export async function createWebhook(
  db: Database,
  wanted: {
    readonly userId: string | null;
    readonly url: string;
    readonly events: readonly WebhookEventType[];
  },
): Promise<WebhookEndpoint | null> {
  const { userId, url, events } = wanted;
  if (!db.isTransaction) return await db.transaction().execute((tx) => createWebhook(tx, wanted));
  await sql`SELECT pg_advisory_xact_lock(hashtext('pasteflow.webhooks'), hashtext(${userId ?? ''}))`.execute(
    db,
  );
  const { rows } = await sql<WebhookEndpoint>`
    INSERT INTO webhook_endpoints (user_id, url, events)
    SELECT ${userId}::uuid, ${url}, ${events}::text[]
    WHERE (${userId}::uuid IS NULL OR user_stands(${userId}::uuid))
      AND ${MAX_WEBHOOKS} > (SELECT count(*) FROM webhook_endpoints WHERE ${ownedBy(userId)})
    RETURNING ${columns}`.execute(db);
  return rows[0] ?? null;
}

/** Oldest first: at most `MAX_WEBHOOKS`. */
export async function listWebhooks(db: Database, userId: string | null): Promise<readonly WebhookEndpoint[]> {
  const { rows } = await sql<WebhookEndpoint>`
    SELECT ${columns} FROM webhook_endpoints WHERE ${ownedBy(userId)} ORDER BY created_at, id`.execute(db);
  return rows;
}

export async function findWebhook(
  db: Database,
  id: string,
  userId: string | null,
): Promise<WebhookEndpoint | null> {
  const { rows } = await sql<WebhookEndpoint>`
    SELECT ${columns} FROM webhook_endpoints WHERE id = ${id}::uuid AND ${ownedBy(userId)}`.execute(db);
  return rows[0] ?? null;
}

/**
 * A new secret. The one before signs as well, for a day.
 * @returns null: there is no such endpoint
 */
export async function rotateWebhook(
  db: Database,
  id: string,
  userId: string | null,
): Promise<WebhookEndpoint | null> {
  const { rows } = await sql<WebhookEndpoint>`
    UPDATE webhook_endpoints SET generation = generation + 1, rotated_at = now()
    WHERE id = ${id}::uuid AND ${ownedBy(userId)} RETURNING ${columns}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Switches an endpoint on again. What happened meanwhile is not told. One that an operator has switched off stays so for
 * its user.
 * @returns null: there is no such endpoint
 */
export async function switchOnWebhook(
  db: Database,
  id: string,
  userId: string | null,
): Promise<WebhookEndpoint | null> {
  const { rows } = await sql<WebhookEndpoint>`
    UPDATE webhook_endpoints SET switched_off_at = CASE WHEN switched_off_for = 'operator' THEN switched_off_at END,
      switched_off_for = CASE WHEN switched_off_for = 'operator' THEN switched_off_for END, failing_since = NULL
    WHERE id = ${id}::uuid AND ${ownedBy(userId)} RETURNING ${columns}`.execute(db);
  return rows[0] ?? null;
}

/**
 * Removes an endpoint: its URL at once, and its deliveries by the sweep `erasures`. Those that wait are not sent.
 * @returns false: there is no such endpoint
 */
export async function removeWebhook(db: Database, id: string, userId: string | null): Promise<boolean> {
  const result = await sql`
    UPDATE webhook_endpoints SET removed_at = now(), url = NULL WHERE id = ${id}::uuid AND ${ownedBy(userId)}`.execute(
    db,
  );
  return affectedRows(result) > 0;
}

/** An endpoint of anybody, for operators. */
export interface KnownWebhook extends WebhookEndpoint {
  /** null: an endpoint of the operators. */
  readonly userName: string | null;
  /** Deliveries whose next attempt waits, counted up to 1000. */
  readonly waiting: number;
}

const knownColumns = sql`${columns}, (SELECT name FROM users u WHERE u.id = user_id) AS "userName", (
      SELECT count(*)::integer FROM (
        SELECT FROM task_executions e WHERE e.kind = 'webhook' AND e.status = 'PENDING'
          AND coalesce(e.user_id, e.endpoint_id) = coalesce(webhook_endpoints.user_id, webhook_endpoints.id) AND e.endpoint_id = webhook_endpoints.id LIMIT 1000
      ) AS counted) AS waiting`;

/** @returns null: there is no such endpoint */
export async function findKnownWebhook(db: Database, id: string): Promise<KnownWebhook | null> {
  const { rows } = await sql<KnownWebhook>`
    SELECT ${knownColumns} FROM webhook_endpoints WHERE id = ${id}::uuid AND removed_at IS NULL`.execute(db);
  return rows[0] ?? null;
}

/** A page of the endpoints of everybody, newest first: those behind the endpoint `after`; null: from the start. */
export async function listAllWebhooks(
  db: Database,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly KnownWebhook[]> {
  const { rows } = await sql<KnownWebhook>`
    SELECT ${knownColumns} FROM webhook_endpoints WHERE removed_at IS NULL AND (${after}::uuid IS NULL OR id < ${after}::uuid)
    ORDER BY id DESC LIMIT ${limit}`.execute(db);
  return rows;
}

/** For operators. What happened meanwhile is not told. @returns false: there is no such endpoint, or it is on */
export async function switchOnAnyWebhook(db: Database, id: string): Promise<boolean> {
  const result = await sql`
    UPDATE webhook_endpoints SET switched_off_at = NULL, switched_off_for = NULL, failing_since = NULL
    WHERE id = ${id}::uuid AND removed_at IS NULL AND switched_off_at IS NOT NULL`.execute(db);
  return affectedRows(result) > 0;
}

/** @returns false: there is no such endpoint, or it is switched off already */
export async function switchOffWebhook(db: Database, id: string): Promise<boolean> {
  const result = await sql`
    UPDATE webhook_endpoints SET switched_off_at = now(), switched_off_for = 'operator'
    WHERE id = ${id}::uuid AND removed_at IS NULL AND switched_off_for IS DISTINCT FROM 'operator'`.execute(
    db,
  );
  return affectedRows(result) > 0;
}
