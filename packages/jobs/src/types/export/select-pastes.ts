import {
  countPastes,
  listExportable,
  type Database,
  type ExportablePaste,
  type ExportFilter,
  type Place,
} from '@pasteflow/postgres';

/** Some milliseconds' worth of reading an index, and in memory at a time. */
const PAGE_PASTES = 500;

/** The pastes of an export, oldest first, a page of rows at a time. @throws the signal's reason */
export async function* selectPastes(
  db: Database,
  filter: ExportFilter,
  signal: AbortSignal,
): AsyncGenerator<ExportablePaste> {
  let after: Place | null = null;
  do {
    signal.throwIfAborted(); // pages without any that are wanted may be many
    const page: Awaited<ReturnType<typeof listExportable>> = await listExportable(db, filter, {
      limit: PAGE_PASTES,
      after,
    });
    for (const paste of page.rows) if (isWanted(paste, filter)) yield paste;
    after = page.next;
  } while (after !== null);
}

/**
 * Whether there are more than so many. The quick count has expired ones in it, and others that are no part of the export: only where that is
 * beyond the limit are those that are looked through. @throws the signal's reason
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

/** FAILED pastes have no content, and read as not found: they are no part of an export that doesn't ask for them. */
function isWanted({ status }: ExportablePaste, filter: ExportFilter): boolean {
  return status !== 'FAILED' || filter.status === 'FAILED';
}
