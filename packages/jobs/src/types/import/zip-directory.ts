import type { Entry, ZipFile } from 'yauzl';
import { entryRefused, SourceRefusedError } from './archive-rules.ts';

/** The length of the fixed part of a directory record. */
const RECORD_BYTES = 46;

/** Offsets in the end record of a zip. A comment may follow the record. */
const END = { bytes: 22, directorySize: 12, directoryStart: 16, commentLength: 20 } as const;
const IN_ZIP64 = 0xffff_ffff;

/**
 * A zip states its number of entries and the length of its directory. When they disagree, entries would be
 * skipped silently. A zip64 stores the length elsewhere and is not checked. @throws SourceRefusedError
 */
export function assertWholeDirectory(source: Buffer, entries: readonly Entry[]): void {
  const end = findEndRecord(source);
  const stated = source.readUInt32LE(end + END.directorySize);
  if (stated === IN_ZIP64 || source.readUInt32LE(end + END.directoryStart) === IN_ZIP64) return;
  const counted = entries.reduce(
    (sum, { fileNameLength, extraFieldLength, fileCommentLength }) =>
      sum + RECORD_BYTES + fileNameLength + extraFieldLength + fileCommentLength,
    0,
  );
  if (stated !== counted) throw new SourceRefusedError('its directory has more entries than it states');
}

/** Finds the end record as yauzl does: its comment must reach the end of the file. */
function findEndRecord(source: Buffer): number {
  for (let at = source.length - END.bytes; at >= 0; at -= 1)
    if (
      source.readUInt32LE(at) === 0x06054b50 &&
      at + END.bytes + source.readUInt16LE(at + END.commentLength) === source.length
    )
      return at;
  throw new SourceRefusedError('it is truncated: its end record is missing');
}

/**
 * Refuses entries that share data: with overlapping entries a few kilobytes can be a bomb.
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
    if (start < last) throw entryRefused(name, 'overlaps with another entry');
    last = end;
  }
}
