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

export interface Reported {
  readonly paste: PasteRow;
  /** Oldest first. */
  readonly reports: readonly OpenReport[];
}

/** @returns null when there is no such paste, or the paste has no open report */
export async function readReported(db: Database, shortCode: string): Promise<Reported | null> {
  const paste = isShortCode(shortCode) ? await findPaste(db, shortCode) : null;
  const reports = paste === null ? [] : await findReports(db, paste.id);
  return paste === null || reports.length === 0 ? null : { paste, reports };
}

const TIMEOUT_MS = 30_000;

/**
 * The beginning of the content. A paste that is deleted when it is read stays.
 * @returns null: there is none, because the upload failed or the content was deleted
 */
export async function readBeginning(
  { db, store }: { readonly db: Database; readonly store: Pick<ObjectStore, 'get'> },
  { id, status, short_code: shortCode, size_bytes: size }: PasteRow,
  maxBytes: number,
): Promise<Buffer | null> {
  const payload = status === 'IN_PROGRESS' ? await readPayload(db, id) : null;
  if (payload !== null) return payload.subarray(0, maxBytes);
  const object = await store.get(objectKeyOf(shortCode), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return object === null
    ? null
    : await buffer(contentRange(object, { start: 0, end: Math.min(size, maxBytes) - 1, size }));
}
