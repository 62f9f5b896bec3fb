import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { lockLimit } from '../database/locks.ts';
import { prepared } from '../database/prepared.ts';
import { isOpenTo, isThere } from '../schema/pastes.ts';
import { supersedesLive } from './newer-versions.ts';
import { entriesOf, insertPastes, isNotBlocked, type NewPaste } from './insert-pastes.ts';
import { affordableEntries, ifAffordable, type Quotas } from './quotas.ts';

export interface CreatedPaste {
  readonly shortCode: string;
  readonly id: string;
  readonly executionId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** How many pastes of one user have a slug at the most, in any state; null: any number. */
export interface SlugLimit {
  readonly maxSlugs?: number | null;
}

export interface CreationLimits extends SlugLimit {
  /** Null: there are none, and the pastes are not counted. Default: null. */
  readonly quotas?: Quotas | null;
}

/**
 * A creation waits for a lock only when somebody has locked its user's row, creates pastes of the same user
 * with slugs or under quotas, or takes the same slug.
 */
const MAX_LOCK_WAIT_MS = 200;

/**
 * Inserts pastes, each with its payload and its PENDING execution, in one statement, which is its own
 * transaction. A paste of 2 KB costs Postgres 0.07 ms of CPU time in groups of 30, and 0.49 ms alone. The
 * statement fails as a whole, for example because one row breaks a constraint or is locked. The caller then
 * creates each paste by itself.
 *
 * Before it inserts, the statement takes the locks of `slugs_left`, in their own order, and then those of
 * `locked_usage`. Pastes beyond the limits of their user are left out, also when another paste of the group
 * is then not inserted.
 * @returns for each paste what was created, or null: see `findRefusal`
 */
export async function createPastes(
  db: Database,
  pastes: readonly NewPaste[],
  {
    maxSlugs = null,
    quotas = null,
    maxLockWaitMs = pastes.length > 1 ? MAX_LOCK_WAIT_MS : undefined,
  }: CreationLimits & {
    /**
     * How long the statement waits for one locked row, in ms. Afterwards it fails (`isLockTimeout`). Default:
     * 200 for several pastes, and for one paste as long as other statements.
     */
    readonly maxLockWaitMs?: number;
  } = {},
): Promise<readonly (CreatedPaste | null)[]> {
  const { entries, content } = entriesOf(pastes.map((paste) => ({ ...paste, counted: quotas !== null })));
  const { rows } = await sql<CreatedPaste & { n: number }>`${prepared}
    WITH ${lockLimit(maxLockWaitMs)},
    entry AS MATERIALIZED (
      SELECT entry.* FROM lock_limit, ${entries}
    ), allowance AS MATERIALIZED (
      SELECT user_id, slugs_left(user_id, ${maxSlugs}::integer) FROM (
        SELECT DISTINCT hashtext(user_id::text) AS lock, user_id FROM entry WHERE slug IS NOT NULL AND ${maxSlugs}::integer IS NOT NULL
        ORDER BY lock) AS named
    ), excess AS MATERIALIZED (
      SELECT short_code FROM (
        SELECT short_code, slugs_left, row_number() OVER (PARTITION BY user_id ORDER BY slug, short_code) AS number
        FROM entry JOIN allowance USING (user_id) WHERE slug IS NOT NULL) AS numbered
      WHERE number > slugs_left
    ), ${quotas === null ? sql`` : sql`${affordableEntries(quotas, 'allowance')}, `}${insertPastes({
      from: 'entry',
      where: sql`${isNotBlocked(sql`entry.content_hash`)} AND ${parentIsReadable('entry')}
        AND short_code NOT IN (SELECT short_code FROM excess)${ifAffordable(quotas)}
        AND (entry.user_id IS NULL OR user_stands(entry.user_id))`,
      content,
    })}
    SELECT entry.n::integer, paste.short_code AS "shortCode", paste.id, execution.id AS "executionId",
      paste.created_at AS "createdAt", paste.expires_at AS "expiresAt"
    FROM paste JOIN entry USING (short_code) JOIN execution ON execution.subject_id = paste.id`.execute(db);
  const created = new Map(rows.map(({ n, ...paste }) => [n, paste]));
  return pastes.map((_, index) => created.get(index + 1) ?? null);
}

/** `createPastes` for one paste. */
export async function createPaste(
  db: Database,
  paste: NewPaste,
  limits: CreationLimits = {},
): Promise<CreatedPaste | null> {
  const [created = null] = await createPastes(db, [paste], limits);
  return created;
}

/** Why a paste was not inserted. */
export type PasteRefusal =
  | 'user_erased'
  | 'content_blocked'
  | 'slug_taken'
  | 'slug_limit_reached'
  | 'parent_not_found'
  | 'paste_held'
  | 'superseded';

/**
 * Why `createPastes` has not inserted a paste; null: its short code was taken, or the reason is gone, so
 * that another code can succeed. A paste has its slug in any state, also when it was deleted, until its row
 * is removed.
 */
export async function findRefusal(
  db: Database,
  { contentHash, slug = null, userId, parent = null, supersedes = null }: Omit<NewPaste, 'shortCode'>,
  { maxSlugs = null }: SlugLimit = {},
): Promise<PasteRefusal | null> {
  const { rows } = await sql<{ refusal: PasteRefusal | null }>`
    SELECT CASE
      WHEN EXISTS (SELECT FROM users WHERE id = ${userId} AND erased_at IS NOT NULL) THEN 'user_erased'
      WHEN NOT ${isNotBlocked(sql`${contentHash}`)} THEN 'content_blocked'
      WHEN EXISTS (SELECT FROM pastes WHERE slug = ${slug}) THEN 'slug_taken'
      WHEN ${slug}::text IS NOT NULL AND ${maxSlugs}::integer <= (SELECT count(*) FROM (
        SELECT FROM pastes WHERE user_id = ${userId} AND slug IS NOT NULL LIMIT coalesce(${maxSlugs}::integer, 0)) AS counted) THEN 'slug_limit_reached'
      WHEN EXISTS (SELECT FROM pastes p WHERE short_code = entry.supersedes AND held_at IS NOT NULL AND ${isThere('p')}) THEN 'paste_held'
      WHEN NOT ${parentIsReadable('entry')} THEN 'parent_not_found'
      WHEN EXISTS (SELECT FROM pastes p WHERE ${sql.raw(supersedesLive('p', 'entry.supersedes'))}) THEN 'superseded' END AS refusal
    FROM (SELECT ${parent}::text AS parent, ${supersedes}::text AS supersedes, ${userId}::uuid AS user_id) AS entry`.execute(
    db,
  );
  return rows[0]?.refusal ?? null;
}

/**
 * Whether the user of an entry could read its parent now: the condition under which that becomes the parent of
 * the new paste. A paste that is deleted when it is read can't be a parent, because no reader can read it twice.
 * One that is superseded must also be stored, not held and not encrypted. Who may supersede it never changes, and
 * the api has asked.
 *
 * The subquery locks nothing: a creation never waits for what happens to its parent.
 * @param entry has parent and supersedes, which is the parent or NULL, and user_id (NULL: an anonymous creator).
 *   Without a parent, nothing is looked up
 */
function parentIsReadable(entry: string): RawBuilder<boolean> {
  const [parent, supersedes, userId] = [
    sql.ref(`${entry}.parent`),
    sql.ref(`${entry}.supersedes`),
    sql.ref(`${entry}.user_id`),
  ];
  return sql<boolean>`CASE WHEN ${parent} IS NULL THEN true ELSE coalesce((
    SELECT origin.status <> 'FAILED' AND ${isThere('origin')} AND NOT origin.burn AND ${isOpenTo('origin', userId)}
      AND (${supersedes} IS NULL OR (origin.status = 'PROCESSED' AND origin.held_at IS NULL AND NOT origin.encrypted))
    FROM pastes origin WHERE origin.short_code = ${parent}), false) END`;
}
