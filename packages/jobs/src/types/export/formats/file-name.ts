import { fileNameOf } from '@pasteflow/domain';
import type { ExportablePaste } from '@pasteflow/postgres';

/** The name of a paste's file in an archive. It begins with the short code, which makes it unique. */
export function archivedName({ shortCode, title }: Pick<ExportablePaste, 'shortCode' | 'title'>): string {
  const name = fileNameOf(title, shortCode);
  return name.startsWith(`${shortCode}.`) ? name : `${shortCode}-${name}`;
}
