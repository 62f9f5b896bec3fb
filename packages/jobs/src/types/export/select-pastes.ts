import {
  countPastes,
  listExportable,
  type Database,
  type ExportablePaste,
  type ExportFilter,
  type Place,
} from '@pasteflow/postgres';

/** Rows per page: some milliseconds of an index scan, all in memory. */
const PAGE_PASTES = 500;

/**
 * Yields the pastes of an export, oldest first. Reads them in pages. A paste that is deleted when it is read
 * is left out: an export would be its one read.
 * @param onLeftOut called for each paste that is left out
 * @throws the signal's reason
 */
export async function* selectPastes(
  db: Database,
  filter: ExportFilter,
  signal: AbortSignal,
  onLeftOut: () => void = () => {},
): AsyncGenerator<ExportablePaste> {
  let after: Place | null = null;
  do {
    signal.throwIfAborted(); // many pages may contain no paste of the export
    const page: Awaited<ReturnType<typeof listExportable>> = await listExportable(db, filter, {
      limit: PAGE_PASTES,
      after,
    });
    for (const paste of page.rows) {
      if (!isExported(paste, filter)) continue;
      if (paste.burn) onLeftOut();
      else yield paste;
    }
    after = page.next;
  } while (after !== null);
}

/**
 * Whether an export has more than `limit` pastes. The fast count includes expired pastes and others that are
 * not exported, so the pastes are read one by one only when this count exceeds the limit. @throws the
 * signal's reason
 */
export async function hasMoreThan(
  limit: number,
  db: Database,
  filter: ExportFilter,
  signal: AbortSignal,
): Promise<boolean> {
  if (limit === Number.POSITIVE_INFINITY || (await countPastes(db, filter, limit + 1)) <= limit) return false;
  let count = 0;
  for await (const _ of selectPastes(db, filter, signal)) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

/**
 * FAILED pastes have no content and read as not found, so they are exported only when the filter asks for
 * them.
 */
function isExported({ status }: ExportablePaste, filter: ExportFilter): boolean {
  return status !== 'FAILED' || filter.status === 'FAILED';
}
