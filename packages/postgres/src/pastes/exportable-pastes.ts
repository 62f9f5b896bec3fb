import { sql } from 'kysely';
import { storedOptionNames, type PasteUploadState, type StoredOptions } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { isThere, readersOf } from '../schema/pastes.ts';
import { placeOfRow, toPage, type Page, type PageRequest, type Place } from '../database/page.ts';

export interface ExportablePaste extends StoredOptions {
  readonly id: string;
  readonly shortCode: string;
  readonly status: PasteUploadState;
  readonly contentHash: string;
  readonly sizeBytes: number;
  readonly createdAt: Date;
  /** null: never. */
  readonly expiresAt: Date | null;
  readonly place: Place;
}

export interface ExportFilter {
  readonly userId: string;
  /** Created at this time or later; null: no bound. */
  readonly createdAfter: Date | null;
  /** Created before this time, a text in microseconds or a Date; null: no bound. */
  readonly createdBefore: Date | string | null;
  /** null: any. */
  readonly status: PasteUploadState | null;
}

const options = sql.join(
  storedOptionNames.map((name) =>
    name === 'visibility' ? sql.raw(`${readersOf('pastes')} AS visibility`) : sql.ref(name),
  ),
);

/**
 * A page of a user's pastes that are not gone, oldest first, so that pastes created
 * during an export come last. A page filters the next `limit` pastes of the user: no index contains the
 * status, and a search for `limit` pastes of a rare status could read all pastes of the user. So a page may
 * have fewer rows, or none, although there is a next page.
 */
export async function listExportable(
  db: Database,
  { userId, createdAfter, createdBefore, status }: ExportFilter,
  { limit, after }: PageRequest,
): Promise<Page<ExportablePaste>> {
  const behind =
    after === null ? sql`` : sql`AND (created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<ExportablePaste & { isRequested: boolean }>`
    SELECT id, short_code AS "shortCode", status, content_hash AS "contentHash", size_bytes AS "sizeBytes",
      created_at AS "createdAt", expires_at AS "expiresAt", ${options}, ${placeOfRow} AS place,
      ${isThere('pastes')} AND (${status}::text IS NULL OR status = ${status}) AS "isRequested"
    FROM pastes
    WHERE user_id = ${userId} AND deletion_initiated_at IS NULL
      AND created_at >= coalesce(${createdAfter}::timestamptz, '-infinity')
      AND created_at < coalesce(${createdBefore}::timestamptz, 'infinity') ${behind}
    ORDER BY created_at, id LIMIT ${limit + 1}`.execute(db);
  const page = toPage(rows, limit);
  const requested = page.rows.flatMap(({ isRequested, ...paste }) => (isRequested ? [paste] : []));
  return { rows: requested, next: page.next };
}

/**
 * Those of the short codes whose pastes have neither expired nor been deleted or taken down. A retry gives
 * a paste another id, and keeps its code.
 */
export async function findAlive(db: Database, shortCodes: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ shortCode: string }>`
    SELECT short_code AS "shortCode" FROM pastes WHERE short_code = ANY (${shortCodes}::text[]) AND ${isThere('pastes')}`.execute(
    db,
  );
  return new Set(rows.map(({ shortCode }) => shortCode));
}

/**
 * About how many pastes of a time span a user has, counted up to `limit`. Counts pastes of every status,
 * including expired ones: the index alone has no more information.
 */
export async function countPastes(
  db: Database,
  { userId, createdAfter, createdBefore }: Pick<ExportFilter, 'userId' | 'createdAfter' | 'createdBefore'>,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM pastes
      WHERE user_id = ${userId} AND deletion_initiated_at IS NULL
        AND created_at >= coalesce(${createdAfter}::timestamptz, '-infinity')
        AND created_at < coalesce(${createdBefore}::timestamptz, 'infinity')
      LIMIT ${limit}
    ) AS counted`.execute(db);
  return rows[0]?.count ?? 0;
}
