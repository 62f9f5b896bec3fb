import { sql, type Selectable } from 'kysely';
import type { PasteUploadState } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { isThere, type PastesTable } from '../schema/pastes.ts';
import { toPage, type Page, type PageRequest, type Place } from '../database/page.ts';

export type ListedPaste = Selectable<PastesTable> & { readonly place: Place };

/**
 * A page of a user's pastes, newest first; `status` null: pastes of every status. Pastes that are gone
 * are not listed. Each filter is the order of an index (0002-pastes.ts), so that a page
 * costs the same at every place. Only PROCESSED shares an index: it skips pastes IN_PROGRESS and those that
 * FAILED in the last day; skipping 100,000 takes 33 ms.
 */
export async function listPastes(
  db: Database,
  filter: { userId: string; status: PasteUploadState | null },
  { limit, after }: PageRequest,
): Promise<Page<ListedPaste>> {
  const { rows } = await sql<Selectable<PastesTable> & { placed_at: string }>`${openPastesOf(
    filter,
    after,
    limit + 1,
  )}`.execute(db);
  return toPage(
    rows.map(({ placed_at, ...paste }) => ({ ...paste, place: { createdAt: placed_at, id: paste.id } })),
    limit,
  );
}

/** The query of a user's pastes after a place, newest first, each with its place. */
export function openPastesOf(
  { userId, status }: { userId: string; status: PasteUploadState | null },
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
