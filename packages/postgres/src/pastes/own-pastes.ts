import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { PasteUploadState, Visibility } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { affectedRows } from '../database/affected-rows.ts';
import { toPage, type Page, type PageRequest } from '../database/page.ts';
import { isThere, type PastesTable } from '../schema/pastes.ts';
import { listPastes, openPastesOf, type ListedPaste } from './list-pastes.ts';

/**
 * A search reads at most this many pastes for a page, so that it takes some 30 ms for any user. A page that
 * has read them all ends where it stopped, possibly without a match.
 */
const MAX_SCANNED = 10_000;

export interface PasteSearch {
  readonly userId: string;
  /** null: any. */
  readonly status: PasteUploadState | null;
  /** A part of the title, in any case and normal form; null: any title. */
  readonly title: string | null;
  /** null: any. */
  readonly visibility: Visibility | null;
  /**
   * In lower case; null: any language. A paste without a syntax has that of the file that its title names: the
   * pattern is a regular expression for what stands behind the last slash.
   */
  readonly language: { readonly syntaxes: readonly string[]; readonly filePattern: string | null } | null;
}

/**
 * A page of a user's pastes that match, newest first. Indexes for each filter would be written by each
 * creation, to speed up lists that few look at.
 * @param maxScanned for tests
 */
export async function searchPastes(
  db: Database,
  { userId, status, title, visibility, language }: PasteSearch,
  page: PageRequest,
  maxScanned = MAX_SCANNED,
): Promise<Page<ListedPaste>> {
  if (title === null && visibility === null && language === null)
    return await listPastes(db, { userId, status }, page);
  const { limit, after } = page;
  const { rows } = await sql<Found>`
    WITH scanned AS MATERIALIZED (${openPastesOf({ userId, status }, after, maxScanned)}),
    last AS (SELECT placed_at AS last_at, id AS last_id FROM scanned ORDER BY placed_at::timestamptz, id LIMIT 1),
    total AS (SELECT count(*)::integer AS scanned_count FROM scanned),
    matching AS (
      SELECT * FROM scanned
      WHERE (${title}::text IS NULL OR strpos(${folded(sql`title`)}, ${folded(sql`${title}::text`)}) > 0)
        AND visibility = coalesce(${visibility}::text, visibility)
        AND (${language === null} OR lower(btrim(syntax)) = ANY (${language?.syntaxes ?? []}::text[])
          OR syntax IS NULL AND regexp_replace(lower(btrim(title)), '^.*/', '') ~ ${language?.filePattern ?? null}::text)
      ORDER BY placed_at::timestamptz DESC, id DESC LIMIT ${limit + 1}
    )
    SELECT * FROM total LEFT JOIN last ON true LEFT JOIN matching ON true
    ORDER BY placed_at::timestamptz DESC, id DESC`.execute(db);
  const found = rows.flatMap((row) =>
    row.id === null ? [] : [{ ...row, place: { createdAt: row.placed_at, id: row.id } }],
  );
  if (found.length > limit) return toPage(found, limit);
  const [first] = rows;
  if (first === undefined || first.scanned_count < maxScanned || first.last_at === null)
    return { rows: found, next: null };
  return { rows: found, next: { createdAt: first.last_at, id: first.last_id } };
}

/** Names of files from macOS are in another normal form, and a small sigma has two forms, of which one ends words. */
function folded(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`lower(upper(normalize(${text}, NFC)))`;
}

/** The count and the last scanned place, with a match or with nulls. */
type Found = { scanned_count: number } & ({ last_at: string; last_id: string } | { last_at: null }) &
  ((Selectable<PastesTable> & { placed_at: string }) | { id: null });

/** Those of the short codes that name pastes of the user that are not gone, with their titles. */
export async function findOwnPastes(
  db: Database,
  { userId, shortCodes }: { userId: string; shortCodes: readonly string[] },
): Promise<readonly { readonly short_code: string; readonly title: string | null }[]> {
  return await db
    .selectFrom('pastes')
    .select(['short_code', 'title'])
    .where('short_code', 'in', [...shortCodes, '']) // an empty list is no SQL
    .where('user_id', '=', userId)
    .where(isThere('pastes'))
    .orderBy('created_at', 'desc')
    .execute();
}

/**
 * Deletes pastes of a user, as `requestDeletion` does. Pastes of others, and those that are gone, are left
 * alone. The rows are locked in the order of their ids, so that two deletions of the same pastes can't wait
 * for each other.
 *
 * A retry of a FAILED paste that commits while the first statement waits for its lock has replaced the row.
 * The paste that has the code now is visible only to the second statement.
 * @returns how many it deleted
 */
export async function requestDeletions(
  db: Database,
  { userId, shortCodes }: { userId: string; shortCodes: readonly string[] },
): Promise<number> {
  const deleted = await requestOwnOnce(db, userId, shortCodes);
  return deleted === shortCodes.length ? deleted : deleted + (await requestOwnOnce(db, userId, shortCodes));
}

async function requestOwnOnce(db: Database, userId: string, shortCodes: readonly string[]): Promise<number> {
  const result = await sql`
    WITH own AS MATERIALIZED (
      SELECT id FROM pastes
      WHERE short_code = ANY (${shortCodes}::text[]) AND user_id = ${userId}
        AND ${isThere('pastes')}
      ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE pastes p SET deletion_requested_at = now() FROM own WHERE p.id = own.id`.execute(db);
  return affectedRows(result);
}
