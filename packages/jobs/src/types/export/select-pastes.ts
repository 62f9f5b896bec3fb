import {
  listExportable,
  type Database,
  type ExportablePaste,
  type ExportFilter,
  type Place,
} from '@pasteflow/postgres';

/** Rows per page: some milliseconds of an index scan, all in memory. */
const PAGE_PASTES = 500;

/**
 * Yields the pastes of an export, oldest first, behind a place (null: from the start). Reads them in pages.
 * FAILED pastes have no content and read as not found, so they are exported only when the filter asks for
 * them.
 * @throws the signal's reason
 */
export async function* selectPastes(
  db: Database,
  filter: ExportFilter,
  from: Place | null,
  signal: AbortSignal,
): AsyncGenerator<ExportablePaste> {
  let after = from;
  do {
    signal.throwIfAborted(); // many pages may contain no paste of the export
    const page: Awaited<ReturnType<typeof listExportable>> = await listExportable(db, filter, {
      limit: PAGE_PASTES,
      after,
    });
    for (const paste of page.rows) if (paste.status !== 'FAILED' || filter.status === 'FAILED') yield paste;
    after = page.next;
  } while (after !== null);
}
