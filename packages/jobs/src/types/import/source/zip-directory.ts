import type { Entry, ZipFile } from 'yauzl';
import { SourceRefusedError } from './source-refused.ts';
import { entryRefused } from './entry-name.ts';

/** The fixed part of a record of the directory. */
const RECORD_BYTES = 46;

/** Of the record that ends a zip, which a comment may follow. */
const END = { bytes: 22, directorySize: 12, directoryStart: 16, commentLength: 20 } as const;
const IN_ZIP64 = 0xffff_ffff;

/**
 * A zip says how many entries it has, and how long their directory is. Where the two differ, entries would be passed over silently. A
 * long one (zip64) has the length elsewhere, and is taken at its word. @throws SourceRefusedError
 */
export function assertWholeDirectory(source: Buffer, entries: readonly Entry[]): void {
  const end = endOf(source);
  const stated = source.readUInt32LE(end + END.directorySize);
  if (stated === IN_ZIP64 || source.readUInt32LE(end + END.directoryStart) === IN_ZIP64) return;
  const counted = entries.reduce(
    (sum, { fileNameLength, extraFieldLength, fileCommentLength }) =>
      sum + RECORD_BYTES + fileNameLength + extraFieldLength + fileCommentLength,
    0,
  );
  if (stated !== counted) throw new SourceRefusedError('its directory has more entries than it says');
}

/** yauzl has found one whose comment goes to the very end of the file. */
function endOf(source: Buffer): number {
  for (let at = source.length - END.bytes; at >= 0; at -= 1)
    if (
      source.readUInt32LE(at) === 0x06054b50 &&
      at + END.bytes + source.readUInt16LE(at + END.commentLength) === source.length
    )
      return at;
  throw new SourceRefusedError('it is cut off: its end is missing');
}

/**
 * Entries that share data make a bomb of a few kilobytes: each says that all of it is its own.
 * @throws SourceRefusedError
 */
export async function assertNoOverlap(
  zip: ZipFile,
  files: readonly { readonly name: string; readonly entry: Entry }[],
): Promise<void> {
  const spans: { name: string; start: number; end: number }[] = [];
  for (const { name, entry } of files) {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const start = entry.relativeOffsetOfLocalHeader;
    spans.push({ name, start, end: fileDataStart + entry.compressedSize });
  }
  spans.sort((a, b) => a.start - b.start);
  let last = 0;
  for (const { name, start, end } of spans) {
    if (start < last) throw entryRefused(name, 'overlaps with another');
    last = end;
  }
}
