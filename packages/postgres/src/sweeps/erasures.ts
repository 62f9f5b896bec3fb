import { erasure, job, openStatesOf, transition } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import { byActor, type Actor } from '../database/actor.ts';
import { affectedRows, type Database } from '../database/database.ts';
import { within, type Portion } from '../database/one-row.ts';
import { good } from '../identity/api-tokens.ts';
import type { OwnerFunction } from '../database/objects.ts';
import type { EndedJob } from './old-rows.ts';

const start = transition(erasure, 'requested', 'at_work');
const finish = transition(erasure, 'at_work', 'done');

type OfUser = (userId: string) => RawBuilder<unknown>;

/**
 * What belongs to a user beside pastes and jobs, which have objects: the rows that an erasure deletes, a line
 * for each table. The janitor needs the right to delete them.
 */
const ownedRows: readonly (readonly [table: string, ofUser: OfUser])[] = [
  ['api_tokens', (userId) => sql`user_id = ${userId}::uuid`],
  ['invitations', (userId) => sql`user_id = ${userId}::uuid`],
  ['idempotency_keys', (userId) => sql`caller = ${`user:${userId}`}`],
  ['secret_requests', (userId) => sql`user_id = ${userId}::uuid`],
];

/** The pastes that no cleanup has claimed. */
const unclaimed: OfUser = (userId) => sql`user_id = ${userId}::uuid AND deletion_initiated_at IS NULL`;

/** The pastes that a cleanup is deleting: few, of all users. */
const beingDeleted: OfUser = (userId) =>
  sql`deletion_initiated_at IS NOT NULL AND deleted_at IS NULL AND user_id = ${userId}::uuid`;

/** The pastes that a slug names, or has named before it was moved. */
const named: readonly OfUser[] = [
  (userId) => sql`user_id = ${userId}::uuid AND slug IS NOT NULL`,
  (userId) => sql`user_id = ${userId}::uuid AND id IN (SELECT paste_id FROM slug_versions)`,
];

/** The pastes of others that the user has revealed. */
const read: OfUser = (userId) => sql`read_by = ${userId}::uuid`;

/** What an erasure would delete; null: there is no such user, or the erasure has begun. */
export async function countOwned(
  db: Database,
  userId: string,
): Promise<{ readonly pastes: number; readonly jobs: number; readonly tokens: number } | null> {
  const { rows } = await sql<{ pastes: number; jobs: number; tokens: number }>`
    SELECT (SELECT count(*) FROM pastes WHERE ${unclaimed(userId)})::integer AS pastes,
      (SELECT count(*) FROM jobs WHERE user_id = ${userId}::uuid)::integer AS jobs,
      (SELECT count(*) FROM api_tokens WHERE user_id = ${userId}::uuid AND revoked_at IS NULL)::integer AS tokens
    FROM users WHERE id = ${userId}::uuid AND erased_at IS NULL`.execute(db);
  return rows[0] ?? null;
}

/**
 * Ends the name, the tokens and the sessions of a user, and orders the sweep to delete the rest.
 * @param by SHA-256 of the token or session that orders it, which must still be good; null: there is none
 * @returns false: there is no such user, the erasure has begun before, or `by` has ended
 */
export async function eraseUser(db: Database, userId: string, by: Buffer | null = null): Promise<boolean> {
  const isOrdered =
    by === null ? sql`true` : sql`EXISTS (SELECT FROM api_tokens t WHERE token_hash = ${by} AND ${good})`;
  const { rows } = await sql<{ erased: boolean }>`
    SELECT erase_user(${userId}::uuid) AS erased WHERE ${isOrdered}`.execute(db);
  return rows[0]?.erased === true;
}

/** The users whose erasure is not done, oldest first. */
export async function findOpenErasures(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ userId: string }>`
    SELECT user_id AS "userId" FROM erasures WHERE done_at IS NULL ORDER BY created_at, id`.execute(db);
  return rows.map(({ userId }) => userId);
}

/** The erasures that were requested since then, oldest first; null: all. */
export async function listErasures(
  db: Database,
  since: Date | null,
): Promise<
  readonly { readonly user_id: string; readonly created_at: Date; readonly done_at: Date | null }[]
> {
  const all = db
    .selectFrom('erasures')
    .select(['user_id', 'created_at', 'done_at'])
    .orderBy('created_at')
    .orderBy('id');
  return await (since === null ? all : all.where('created_at', '>=', since)).execute();
}

/** requested → at_work. An erasure that is at work already stays so. */
export async function startErasure(db: Database, userId: string, actor: Actor): Promise<void> {
  await sql`
    WITH ${byActor(actor)}
    UPDATE erasures SET status = ${start.to} FROM actor
    WHERE user_id = ${userId} AND status = ${start.from}`.execute(db);
}

/** The ids of jobs that wait or run. */
export async function findOpenJobsOf(db: Database, userId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM jobs WHERE user_id = ${userId} AND status = ANY (${openStatesOf(job)})
    ORDER BY created_at, id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Up to `limit` jobs that have ended, without those that the run has seen: some may still be there. */
export async function findEndedJobsOf(
  db: Database,
  { userId, without, limit }: { userId: string; without: readonly string[]; limit: number },
): Promise<readonly EndedJob[]> {
  const { rows } = await sql<EndedJob>`
    SELECT id, retried_as AS "retriedAs" FROM jobs WHERE user_id = ${userId} AND completed_at IS NOT NULL AND id <> ALL (${without}::uuid[])
    ORDER BY created_at, id LIMIT ${limit}`.execute(db);
  return rows;
}

export function searchUndeleted({ userId, ...portion }: { userId: string } & Portion): RawBuilder<unknown> {
  return sql`
      SELECT id, id::text AS name FROM pastes
      WHERE ${unclaimed(userId)} AND deletion_requested_at IS NULL AND ${within(sql`id::text`, portion)} LIMIT ${portion.limit}`;
}

/**
 * Requests the deletion of up to `limit` pastes of the user, as the user could. The cleanup deletes them. A
 * locked paste is left to the next call.
 * @returns how many there were
 */
export async function requestDeletionsOf(db: Database, own: { userId: string } & Portion): Promise<number> {
  const result = await sql`
    WITH own AS MATERIALIZED (
      ${searchUndeleted(own)} FOR UPDATE SKIP LOCKED
    )
    UPDATE pastes p SET deletion_requested_at = now() FROM own WHERE p.id = own.id`.execute(db);
  return affectedRows(result);
}

/**
 * Deletes the rows that belong to the user, and the tombstones with a slug, which may be a name. Other
 * tombstones stay for their time. What others have let the user read no longer says by whom it was read.
 */
export async function removeOwnedRows(db: Database, userId: string): Promise<void> {
  for (const [table, ofUser] of ownedRows)
    await sql`DELETE FROM ${sql.table(table)} WHERE ${ofUser(userId)}`.execute(db);
  for (const ofUser of named)
    await sql`DELETE FROM pastes WHERE ${ofUser(userId)} AND deletion_status = 'DELETED'`.execute(db);
  await sql`
    WITH read AS MATERIALIZED (
      SELECT id FROM pastes WHERE ${read(userId)} ORDER BY id DESC FOR NO KEY UPDATE
    )
    UPDATE pastes p SET read_by = NULL FROM read WHERE p.id = read.id`.execute(db);
}

/** at_work → done, when nothing is left. @returns whether it is done */
export async function finishErasure(db: Database, userId: string, actor: Actor): Promise<boolean> {
  const left = [
    sql`pastes WHERE ${unclaimed(userId)}`,
    sql`pastes WHERE ${beingDeleted(userId)}`,
    ...named.map((ofUser) => sql`pastes WHERE ${ofUser(userId)}`),
    sql`pastes WHERE ${read(userId)}`,
    sql`jobs WHERE user_id = ${userId}::uuid`,
    sql`webhook_endpoints WHERE user_id = ${userId}::uuid`, // see removeRemovedWebhooks
    ...ownedRows.map(([table, ofUser]) => sql`${sql.table(table)} WHERE ${ofUser(userId)}`),
  ].map((rows) => sql`NOT EXISTS (SELECT FROM ${rows})`);
  const result = await sql`
    WITH ${byActor(actor)}
    UPDATE erasures SET status = ${finish.to}, done_at = now() FROM actor
    WHERE user_id = ${userId} AND status = ${finish.from} AND ${sql.join(left, sql` AND `)}`.execute(db);
  return affectedRows(result) > 0;
}

/**
 * Begins the erasure of a user: the name, all tokens and sessions and the endpoints of webhooks end in one transaction, before the sweep
 * deletes anything. No service may change the name of a user, so this is a function of the owner.
 *
 * FOR UPDATE waits for the creations of the user that have locked the row (`user_stands`). Those that come
 * later find `erased_at`: each creation is in time to be erased, or is refused. Of two erasures the second
 * finds no row. The tokens are locked in the order of their ids, as by `revokeEach`.
 *
 * @returns false: there is no such user, or the erasure has begun before
 */
export const eraseUserFunction: OwnerFunction = {
  name: 'erase_user',
  parameters: 'of_user uuid',
  returns: 'boolean',
  body: `
    BEGIN
      PERFORM FROM users WHERE id = of_user AND erased_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN RETURN false; END IF;
      UPDATE users SET name = 'erased ' || id, shown_name = NULL, erased_at = now() WHERE id = of_user;
      PERFORM FROM api_tokens WHERE user_id = of_user AND revoked_at IS NULL ORDER BY id FOR NO KEY UPDATE;
      UPDATE api_tokens SET revoked_at = now() WHERE user_id = of_user AND revoked_at IS NULL;
      UPDATE webhook_endpoints SET removed_at = now(), url = NULL WHERE user_id = of_user AND removed_at IS NULL;
      INSERT INTO erasures (user_id, pastes, jobs)
        SELECT of_user, (SELECT count(*) FROM pastes WHERE user_id = of_user AND deletion_initiated_at IS NULL),
          (SELECT count(*) FROM jobs WHERE user_id = of_user);
      RETURN true;
    END`,
};

/**
 * Whether a user is not erased; it keeps an erasure waiting until the commit. Every statement that creates
 * something for a known user asks it: what is created is in time to be erased, or refused. A function of the
 * owner, because the worker has no right to users. A user who does not exist breaks the foreign key.
 */
export const userStandsFunction: OwnerFunction = {
  name: 'user_stands',
  parameters: 'of_user uuid',
  returns: 'boolean',
  body: `
    BEGIN
      PERFORM FROM users WHERE id = of_user AND erased_at IS NULL FOR KEY SHARE;
      RETURN FOUND OR NOT EXISTS (SELECT FROM users WHERE id = of_user);
    END`,
};
