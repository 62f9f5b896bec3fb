import { buffer } from 'node:stream/consumers';
import { isShortCode, objectKeyOf } from '@pasteflow/domain';
import {
  findPaste,
  findReports,
  readPayload,
  type Database,
  type OpenReport,
  type PasteRow,
} from '@pasteflow/postgres';
import { contentRange, type ObjectStore } from '@pasteflow/s3';
import { kindOf, textOf } from '@pasteflow/web';

export interface Reported {
  readonly paste: PasteRow;
  readonly reports: readonly OpenReport[];
}

/** @returns null when there is no such paste, or the paste has no open report */
export async function readReported(db: Database, shortCode: string): Promise<Reported | null> {
  const paste = isShortCode(shortCode) ? await findPaste(db, shortCode) : null;
  const reports = paste === null ? [] : await findReports(db, paste.id);
  return paste === null || reports.length === 0 ? null : { paste, reports };
}

export interface ContentSources {
  readonly db: Database;
  readonly store: Pick<ObjectStore, 'get'>;
}

/** The beginning of a text, or why no text is shown: `unreadable` says more in `error`. */
export type Beginning =
  | { readonly text: string; readonly isCut: boolean }
  | { readonly hidden: 'encrypted' | 'not text' | 'missing' | 'unreadable'; readonly error?: string };

/** While S3 fails the content is `unreadable`, so that the reports can still be read and judged. */
export async function readBeginning(
  sources: ContentSources,
  paste: PasteRow,
  maxBytes: number,
): Promise<Beginning> {
  if (paste.encrypted) return { hidden: 'encrypted' };
  try {
    const beginning = await readContent(sources, paste, maxBytes);
    if (beginning === null) return { hidden: 'missing' };
    if (kindOf(beginning) !== 'text') return { hidden: 'not text' };
    return { text: textOf(beginning), isCut: beginning.length < paste.size_bytes };
  } catch (error) {
    return { hidden: 'unreadable', error: Error.isError(error) ? error.message : String(error) };
  }
}

const TIMEOUT_MS = 30_000;

/**
 * The content, or its beginning. A paste that is deleted when it is read stays.
 * @returns null: there is none, because the upload failed or the content was deleted
 */
export async function readContent(
  { db, store }: ContentSources,
  { id, status, short_code: shortCode, size_bytes: size }: PasteRow,
  maxBytes: number = size,
): Promise<Buffer | null> {
  const payload = status === 'IN_PROGRESS' ? await readPayload(db, id) : null;
  if (payload !== null) return payload.subarray(0, maxBytes);
  const object = await store.get(objectKeyOf(shortCode), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return object === null
    ? null
    : await buffer(contentRange(object, { start: 0, end: Math.min(size, maxBytes) - 1, size }));
}
