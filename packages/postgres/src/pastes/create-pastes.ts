import { ContentBlockedError } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { prepared } from '../database/prepared.ts';
import { findBlocked } from './content-blocks.ts';
import type { CreatedPaste, NewPaste, SlugLimit } from './create-paste.ts';
import { parentIsReadable } from './parent.ts';

/** A creation waits for a lock only when somebody has locked its user's row, or creates pastes with slugs of the same user. */
const MAX_LOCK_WAIT_MS = 200;

export interface CreatePastesOptions extends SlugLimit {
  /** How long the statement waits for one locked row, in ms. Afterwards it fails (`isLockTimeout`). Default: 200. */
  readonly maxLockWaitMs?: number;
}

/**
 * Inserts several pastes, each with its payload and its PENDING execution, in one statement: at the database 17.9k pastes/s in groups of
 * 50, instead of 8.1k one by one. All are inserted, or none when the statement fails, for example because one row breaks a constraint or
 * is locked (`isLockTimeout`). The caller then creates each paste by itself.
 *
 * The contents are one parameter, from which each row takes its bytes: pg would send an array of them as hexadecimal text, and a parameter for
 * each would make a text of the statement for each number of pastes. The pastes are inserted in the order of their slugs, and those without a slug
 * in the order of their codes, so that concurrent statements cannot deadlock: a statement that inserts a slug waits for the statement that
 * has inserted the same slug and has not committed. Before that, the statement takes the locks of `slugs_left`, in their own order. Pastes
 * beyond the limit of their user are left out, also when another paste of the group then does not get its slug.
 *
 * Only a group with slugs leaves out what is taken (ON CONFLICT), because clients choose slugs. Short codes are random and hardly ever taken,
 * and ON CONFLICT writes a second record to the WAL for each row (48 bytes): without a slug, a taken code makes the statement fail.
 *
 * When an operator has blocked the content of one of them, nothing is inserted: the caller creates each paste by itself, and only that one
 * is refused.
 * @throws ContentBlockedError, and the unique violation of a group without slugs
 * @returns for each paste what was created, or null when a paste before it in `pastes` has its short code, when its creator can't read its
 * parent (see `hasReadableParent`), and in a group with slugs also when its short code or its slug is taken or its user has no slug left: see
 * `findSlugRefusal`
 */
export async function createPastes(
  db: Database,
  pastes: readonly NewPaste[],
  { maxSlugs = null, maxLockWaitMs = MAX_LOCK_WAIT_MS }: CreatePastesOptions = {},
): Promise<readonly (CreatedPaste | null)[]> {
  const firstOf = new Map(pastes.toReversed().map((paste) => [paste.shortCode, paste]));
  const distinct = [...firstOf.values()];
  const hasSlugs = distinct.some(({ slug = null }) => slug !== null);
  const of = <T>(value: (paste: NewPaste) => T): readonly T[] => distinct.map(value);
  const { rows } = await sql<CreatedPaste & { shortCode: string }>`${prepared}
    WITH lock_limit AS MATERIALIZED (
      SELECT set_config('lock_timeout', ${String(maxLockWaitMs)}, true)
    ), entry AS MATERIALIZED (
      SELECT t.* FROM lock_limit, unnest(
        ${of((paste) => paste.shortCode)}::text[],
        ${of((paste) => paste.userId)}::uuid[],
        ${of((paste) => paste.visibility)}::text[],
        ${of((paste) => paste.contentHash)}::text[],
        ${of((paste) => paste.content.length)}::integer[],
        ${startsOf(distinct)}::integer[],
        ${of((paste) => paste.title)}::text[],
        ${of((paste) => paste.syntax)}::text[],
        ${of((paste) => paste.encrypted ?? false)}::boolean[],
        ${of((paste) => paste.expiresInSeconds)}::float8[],
        ${of((paste) => paste.deleteTokenHash)}::bytea[],
        ${of((paste) => paste.burn ?? false)}::boolean[],
        ${of((paste) => paste.slug ?? null)}::text[],
        ${of((paste) => paste.parent ?? null)}::text[]
      ) AS t (short_code, user_id, visibility, content_hash, size_bytes, starts_at, title, syntax, encrypted, expires_in, delete_token_hash,
        burn, slug, parent)
    ), allowance AS MATERIALIZED (
      SELECT user_id, slugs_left(user_id, ${maxSlugs}::integer) FROM (
        SELECT DISTINCT hashtext(user_id::text) AS lock, user_id FROM entry WHERE slug IS NOT NULL AND ${maxSlugs}::integer IS NOT NULL
        ORDER BY lock) AS named
    ), excess AS MATERIALIZED (
      SELECT short_code FROM (
        SELECT short_code, slugs_left, row_number() OVER (PARTITION BY user_id ORDER BY slug, short_code) AS number
        FROM entry JOIN allowance USING (user_id) WHERE slug IS NOT NULL) AS numbered
      WHERE number > slugs_left
    ), paste AS (
      INSERT INTO pastes (short_code, user_id, visibility, content_hash, size_bytes, title, syntax, encrypted, expires_at, delete_token_hash,
        burn, slug, parent)
      SELECT short_code, user_id, visibility, content_hash, size_bytes, title, syntax, encrypted, now() + make_interval(secs => expires_in),
        delete_token_hash, burn, slug, parent
      FROM entry
      WHERE NOT EXISTS (
        SELECT FROM entry e JOIN content_blocks b ON b.content_hash = e.content_hash WHERE b.unblocked_at IS NULL)
        AND short_code NOT IN (SELECT short_code FROM excess)
        AND ${parentIsReadable(sql`entry.parent`, sql`entry.user_id`)}
      ORDER BY slug, short_code
      ${hasSlugs ? sql`ON CONFLICT DO NOTHING` : sql``}
      RETURNING id, short_code, user_id, created_at, expires_at
    ), payload AS (
      INSERT INTO paste_payloads (paste_id, content, user_id, created_at)
      SELECT paste.id, substring(${Buffer.concat(of((paste) => paste.content))}::bytea FROM entry.starts_at FOR entry.size_bytes),
        paste.user_id, paste.created_at
      FROM paste JOIN entry USING (short_code)
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'upload', id, 1 FROM paste RETURNING id, subject_id
    )
    SELECT paste.short_code AS "shortCode", paste.id, execution.id AS "executionId", paste.created_at AS "createdAt",
      paste.expires_at AS "expiresAt"
    FROM paste JOIN execution ON execution.subject_id = paste.id`.execute(db);
  if (rows.length === 0 && (await findBlocked(db, [...new Set(of((paste) => paste.contentHash))])).size > 0)
    throw new ContentBlockedError();
  const created = new Map(rows.map(({ shortCode, ...paste }) => [shortCode, paste]));
  return pastes.map((paste) =>
    firstOf.get(paste.shortCode) === paste ? (created.get(paste.shortCode) ?? null) : null,
  );
}

/** Where each content begins among all of them. Postgres counts from 1. */
function startsOf(pastes: readonly NewPaste[]): readonly number[] {
  let next = 1;
  return pastes.map(({ content }) => {
    const start = next;
    next += content.length;
    return start;
  });
}
