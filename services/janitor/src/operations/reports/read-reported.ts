import { buffer } from 'node:stream/consumers';
import { isShortCode, objectKeyOf, type PasteFile } from '@pasteflow/domain';
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
  | {
      readonly hidden: 'encrypted' | 'not text' | 'missing' | 'unreadable' | 'too far behind';
      readonly error?: string;
    };

/** Of a content, for a list. */
const LINE_BYTES = 200;

/** A list is shown without the first lines that S3 does not send in this time. */
const LIST_TIMEOUT_MS = 3000;

/** The first lines of reported pastes that are not empty, or why there is none, by their codes. */
export async function readFirstLines(
  sources: ContentSources,
  shortCodes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  const lines = shortCodes.map(async (code): Promise<[string, string]> => {
    const paste = await findPaste(sources.db, code);
    if (paste === null) return [code, ''];
    const beginning = await readBeginning(sources, paste, LINE_BYTES, signal);
    if ('hidden' in beginning) return [code, `(${beginning.hidden})`];
    return [code, /\S.*/.exec(beginning.text)?.[0] ?? ''];
  });
  return new Map(await Promise.all(lines));
}

/** While S3 fails the content is `unreadable`, so that the reports can still be read and judged. */
export async function readBeginning(
  sources: ContentSources,
  paste: PasteRow,
  maxBytes: number,
  signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<Beginning> {
  if (paste.encrypted) return { hidden: 'encrypted' };
  try {
    const beginning = await readContent(sources, paste, maxBytes, signal);
    if (beginning === null) return { hidden: 'missing' };
    if (kindOf(beginning) !== 'text') return { hidden: 'not text' };
    return { text: textOf(beginning), isCut: beginning.length < paste.size_bytes };
  } catch (error) {
    return { hidden: 'unreadable', error: messageOf(error) };
  }
}

/** Of the content of a paste with files. */
const READ_BYTES = 256 * 1024;

export type FileBeginning = Pick<PasteFile, 'name' | 'size'> & { readonly content: Beginning };

/** How the files of a paste begin, by one read of the content: what stands further behind is not shown. */
export async function readFileBeginnings(
  sources: ContentSources,
  paste: PasteRow,
  files: readonly PasteFile[],
  maxBytesOfFile: number,
): Promise<readonly FileBeginning[]> {
  const read = await readContent(sources, paste, READ_BYTES).catch((error: unknown) => messageOf(error));
  const beginningOf = ({ offset, size }: PasteFile): Beginning => {
    if (read === null) return { hidden: 'missing' };
    if (typeof read === 'string') return { hidden: 'unreadable', error: read };
    if (size > 0 && offset >= read.length) return { hidden: 'too far behind' };
    const beginning = read.subarray(offset, offset + Math.min(size, maxBytesOfFile));
    if (kindOf(beginning) !== 'text') return { hidden: 'not text' };
    return { text: textOf(beginning), isCut: beginning.length < size };
  };
  return files.map((file) => ({ name: file.name, size: file.size, content: beginningOf(file) }));
}

function messageOf(error: unknown): string {
  return Error.isError(error) ? error.message : String(error);
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
  signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<Buffer | null> {
  const payload = status === 'IN_PROGRESS' ? await readPayload(db, id) : null;
  if (payload !== null) return payload.subarray(0, maxBytes);
  const object = await store.get(objectKeyOf(shortCode), { signal });
  return object === null
    ? null
    : await buffer(contentRange(object, { start: 0, end: Math.min(size, maxBytes) - 1, size }));
}
