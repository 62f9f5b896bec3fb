import {
  listExportable,
  type Database,
  type ExportablePaste,
  type ExportFilter,
  type Place,
} from '@pasteflow/postgres';

/** Some milliseconds' worth of reading an index, and in memory at a time. */
const PAGE_PASTES = 500;

/** The pastes of an export, oldest first, a page of rows at a time. */
export async function* pastesToExport(db: Database, filter: ExportFilter): AsyncGenerator<ExportablePaste> {
  let after: Place | null = null;
  do {
    const page: Awaited<ReturnType<typeof listExportable>> = await listExportable(db, filter, {
      limit: PAGE_PASTES,
      after,
    });
    for (const paste of page.rows) if (isWanted(paste, filter)) yield paste;
    after = page.next;
  } while (after !== null);
}

/** FAILED pastes have no content, and read as not found: they are no part of an export that doesn't ask for them. */
function isWanted({ status }: ExportablePaste, filter: ExportFilter): boolean {
  return status !== 'FAILED' || filter.status === 'FAILED';
}
