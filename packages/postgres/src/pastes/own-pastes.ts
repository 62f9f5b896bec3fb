import { sql, type RawBuilder, type Selectable } from 'kysely';
import { MAX_FILES, type PasteUploadState, type Visibility } from '@pasteflow/domain';
import { affectedRows, type Database } from '../database/database.ts';
import { toPage, type Page, type PageRequest, type Place } from '../database/page.ts';
import { isThere, readersOf, withReaders, type PastesTable } from '../schema/pastes.ts';

/**
 * A search reads at most this many pastes for a page, and at most as many files of them, so that it takes some 60 ms
 * for any user: a million names took 7 s. A page that has read them all ends where it stopped, possibly without a
 * match.
 */
const MAX_SCANNED = 10_000;

export interface PasteSearch {
  readonly userId: string;
  /** null: any. */
  readonly status: PasteUploadState | null;
  /** A part of the title or of the name of a file, in any case and normal form; null: any title. */
  readonly title: string | null;
  /** null: any. */
  readonly visibility: Visibility | null;
  /**
   * In lower case; null: any language. A paste or file without a syntax has that of the file that its title or
   * name names: the pattern is a regular expression for what stands behind the last slash.
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
  search: PasteSearch,
  page: PageRequest,
  maxScanned = MAX_SCANNED,
): Promise<Page<ListedPaste>> {
  const { userId, status, title, visibility, language } = search;
  if (title === null && visibility === null && language === null)
    return await listPastes(db, { userId, status }, page);
  const { limit, after } = page;
  const { rows } = await sql<Found>`
    WITH ${scannedOf(search, after, maxScanned)},
    last AS (SELECT placed_at AS last_at, id AS last_id FROM scanned ORDER BY placed_at::timestamptz, id LIMIT 1),
    matching AS (
      SELECT * FROM scanned WHERE ${matches(search)}
      ORDER BY placed_at::timestamptz DESC, id DESC LIMIT ${limit + 1}
    )
    SELECT * FROM total LEFT JOIN last ON true LEFT JOIN matching ON true
    ORDER BY placed_at::timestamptz DESC, id DESC`.execute(db);
  const found = placed(rows);
  if (found.length > limit) return toPage(found, limit);
  const [first] = rows;
  if (first === undefined || !first.is_cut || first.last_at === null) return { rows: found, next: null };
  return { rows: found, next: { createdAt: first.last_at, id: first.last_id } };
}

/**
 * A page of a user's pastes that match, the one first that expires first; those that never expire, and those that
 * were read, come last. No index has this order, which each creation would write: the newest MAX_SCANNED are sorted.
 * @param maxScanned for tests
 * @returns also whether the user may have more than were sorted. The places have the expiry
 */
export async function searchPastesByExpiry(
  db: Database,
  search: PasteSearch,
  { limit, after }: PageRequest,
  maxScanned = MAX_SCANNED,
): Promise<Page<ListedPaste> & { readonly isCut: boolean }> {
  const expiry = sql`CASE WHEN burned_at IS NULL AND expires_at IS NOT NULL THEN expires_at ELSE '9999-12-31 00:00Z' END`;
  const further =
    after === null ? sql`` : sql`AND (${expiry}, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<Found & { readonly expiry: string }>`
    WITH ${scannedOf(search, null, maxScanned)},
    matching AS (
      SELECT *, ${expiry}::text AS expiry FROM scanned WHERE ${matches(search)} ${further} ORDER BY ${expiry}, id LIMIT ${limit + 1}
    )
    SELECT * FROM total LEFT JOIN matching ON true
    ORDER BY expiry::timestamptz, id`.execute(db);
  const isCut = rows[0]?.is_cut === true;
  return { ...toPage(placed(rows.map((row) => ({ ...row, placed_at: row.expiry }))), limit), isCut };
}

/** The newest pastes that are searched, and whether there may be others. */
function scannedOf(search: PasteSearch, after: Place | null, maxScanned: number): RawBuilder<unknown> {
  return sql`
    listed AS MATERIALIZED (${listedPastesOf(search, after, maxScanned)}),
    counted AS (
      SELECT id, sum(coalesce(jsonb_array_length(files), 1)) OVER (ORDER BY placed_at::timestamptz DESC, id DESC) AS files_count
      FROM listed
    ),
    scanned AS MATERIALIZED (
      SELECT listed.* FROM listed JOIN counted USING (id) WHERE files_count <= ${Math.max(maxScanned, MAX_FILES)}
    ),
    total AS (
      SELECT count(*) = ${maxScanned} OR count(*) > (SELECT count(*) FROM scanned) AS is_cut FROM listed
    )`;
}

/** Whether a paste of the list `scanned`, or a file of it, is what is searched for. */
function matches({ title, visibility, language }: PasteSearch): RawBuilder<boolean> {
  return sql`(${title}::text IS NULL OR ${hasPart(sql`normalize(title, NFC)`, title)}
      OR EXISTS (SELECT FROM jsonb_array_elements(files) AS file WHERE ${hasPart(sql`file->>'name'`, title)}))
    AND (${visibility}::text IS NULL OR ${sql.raw(readersOf('scanned'))} = ${visibility})
    AND (${language === null} OR files IS NULL AND ${isIn(language, { syntax: sql`syntax`, name: sql`title` })}
      OR EXISTS (SELECT FROM jsonb_array_elements(files) AS file
        WHERE ${isIn(language, { syntax: sql`file->>'syntax'`, name: sql`file->>'name'` })}))`;
}

/** @param text in the normal form NFC, as names of files are; titles from macOS are in another one */
export function hasPart(text: RawBuilder<unknown>, part: string | null): RawBuilder<boolean> {
  return sql`strpos(${folded(text)}, ${folded(sql`normalize(${part}::text, NFC)`)}) > 0`;
}

function isIn(
  language: PasteSearch['language'],
  { syntax, name }: { readonly syntax: RawBuilder<unknown>; readonly name: RawBuilder<unknown> },
): RawBuilder<boolean> {
  return sql`(lower(btrim(${syntax})) = ANY (${language?.syntaxes ?? []}::text[])
    OR ${syntax} IS NULL AND regexp_replace(lower(btrim(${name})), '^.*/', '') ~ ${language?.filePattern ?? null}::text)`;
}

function placed(rows: readonly Found[]): readonly ListedPaste[] {
  return rows.flatMap((row) =>
    row.id === null ? [] : [{ ...withReaders(row), place: { createdAt: row.placed_at, id: row.id } }],
  );
}

/** A small sigma has two forms, of which one ends words. */
function folded(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`lower(upper(${text}))`;
}

/** Whether more may match, and the last scanned place, with a match or with nulls. */
type Found = { is_cut: boolean } & ({ last_at: string; last_id: string } | { last_at: null }) &
  ((Selectable<PastesTable> & { placed_at: string }) | { id: null });

/** Those of the short codes that name pastes of the user that are not gone, with what names them. */
export async function findOwnPastes(
  db: Database,
  { userId, shortCodes }: { userId: string; shortCodes: readonly string[] },
): Promise<readonly Pick<Selectable<PastesTable>, 'short_code' | 'title' | 'files'>[]> {
  return await db
    .selectFrom('pastes')
    .select(['short_code', 'title', 'files'])
    .where('short_code', 'in', [...shortCodes, '']) // an empty list is no SQL
    .where('user_id', '=', userId)
    .where(isThere('pastes'))
    .orderBy('created_at', 'desc')
    .execute();
}

/**
 * Deletes pastes of a user, as `requestDeletion` does. Pastes of others, and those that are gone, are left
 * alone. The rows are locked by their ids, the newest first, so that two deletions of the same pastes can't
 * wait for each other, nor one for the settlement of a newer version (`nameNewerVersionTrigger`).
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
      ORDER BY id DESC FOR NO KEY UPDATE
    )
    UPDATE pastes p SET deletion_requested_at = now() FROM own WHERE p.id = own.id`.execute(db);
  return affectedRows(result);
}

export type ListedPaste = Omit<Selectable<PastesTable>, 'visibility'> & {
  readonly visibility: Visibility;
  readonly place: Place;
};

/**
 * A page of a user's pastes, newest first; `status` null: pastes of every status. Pastes that are gone
 * are not listed, except for those that a reveal has read, until their rows are removed. Each filter is the order of
 * an index (0002-pastes.ts, 0023-secrets-between-people.ts), so that a page
 * costs the same at every place. Only PROCESSED shares an index: it skips pastes IN_PROGRESS and those that
 * FAILED in the last day; skipping 100,000 takes 33 ms.
 */
export async function listPastes(
  db: Database,
  filter: { userId: string; status: PasteUploadState | null },
  { limit, after }: PageRequest,
): Promise<Page<ListedPaste>> {
  const { rows } = await sql<Selectable<PastesTable> & { placed_at: string }>`${listedPastesOf(
    filter,
    after,
    limit + 1,
  )}`.execute(db);
  return toPage(
    rows.map(({ placed_at, ...paste }) => ({
      ...withReaders(paste),
      place: { createdAt: placed_at, id: paste.id },
    })),
    limit,
  );
}

/**
 * The query of a user's pastes after a place, newest first, each with its place: those that are there, and those that
 * a reveal has read (PROCESSED all of them), from an index for each.
 */
function listedPastesOf(
  { userId, status }: Pick<PasteSearch, 'userId' | 'status'>,
  after: Place | null,
  limit: number,
) {
  const open = openPastesOf({ userId, status }, after, limit);
  if (status !== null && status !== 'PROCESSED') return open;
  const further =
    after === null
      ? sql``
      : sql`AND (p.created_at, p.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  return sql`
    (${open}) UNION ALL
    (SELECT p.*, p.created_at::text AS placed_at FROM pastes p WHERE p.user_id = ${userId} AND p.burned_at IS NOT NULL ${further}
      ORDER BY p.created_at DESC, p.id DESC LIMIT ${limit})
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

function openPastesOf(
  { userId, status }: Pick<PasteSearch, 'userId' | 'status'>,
  after: Place | null,
  limit: number,
) {
  const [createdAt, id] =
    status === 'IN_PROGRESS'
      ? [sql.ref('payload.created_at'), sql.ref('payload.paste_id')]
      : [sql.ref('p.created_at'), sql.ref('p.id')];
  const further =
    after === null
      ? sql``
      : sql`AND (${createdAt}, ${id}) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  return sql`
    SELECT p.*, ${createdAt}::text AS placed_at
    FROM ${sourceOf(userId, status)} ${further}
      AND ${isThere('p')}
    ORDER BY ${createdAt} DESC, ${id} DESC LIMIT ${limit}`;
}

function sourceOf(userId: string, status: PasteUploadState | null) {
  switch (status) {
    case null:
      return sql`pastes p WHERE p.user_id = ${userId}`;
    case 'IN_PROGRESS':
      return sql`paste_payloads payload JOIN pastes p ON p.id = payload.paste_id WHERE payload.user_id = ${userId}`;
    case 'PROCESSED':
      return sql`pastes p WHERE p.user_id = ${userId} AND p.status = 'PROCESSED'`;
    case 'FAILED':
      return sql`pastes p WHERE p.user_id = ${userId} AND p.failed_at IS NOT NULL`;
    default:
      return status satisfies never;
  }
}
