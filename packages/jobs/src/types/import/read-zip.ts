import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import { pasteOf } from '../export/archive-formats.ts';
import {
  type ArchiveFile,
  ContentCollector,
  EntryBudget,
  entryName,
  entryRefused,
  InflationBudget,
  type ReadOptions,
  SourceRefusedError,
} from './archive-rules.ts';

/** Flags of an encrypted entry and of an encrypted directory. yauzl refuses strong encryption itself. */
const ENCRYPTED = 0x1 | 0x2000;
const STORED = 0;
const DEFLATED = 8;

/**
 * The Unix file type in the upper half of an entry's external attributes. 0: the zip was not created on Unix.
 */
const KIND = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;
/** The DOS attribute for folders in the lower half. */
const DOS_FOLDER = 0x10;

interface NamedEntry {
  readonly name: string;
  readonly entry: Entry;
}

/**
 * Yields the regular files of a zip in the order of its directory. The whole directory is read and checked
 * before anything is inflated.
 * @throws SourceRefusedError, or the errors of yauzl and zlib for a damaged zip
 */
export async function* readZip(source: Buffer, options: ReadOptions): AsyncGenerator<ArchiveFile> {
  const zip = await fromBufferPromise(source, { decodeStrings: false });
  try {
    const files = await directoryOf(zip, source);
    const budget = new InflationBudget(source.length);
    for (const file of files)
      yield {
        name: file.name,
        content: await contentOf(zip, file, { budget, options }),
        ofPaste: pasteOf(file.entry.fileCommentRaw.toString('latin1')),
      };
  } finally {
    zip.close();
  }
}

async function directoryOf(zip: ZipFile, source: Buffer): Promise<readonly NamedEntry[]> {
  new EntryBudget().spend(zip.entryCount);
  const stated = new InflationBudget(source.length);
  const entries: Entry[] = [];
  const files: NamedEntry[] = [];
  for await (const entry of zip.eachEntry()) {
    entries.push(entry);
    const raw = nameOf(entry);
    const name = entryName(raw);
    if (!isRegular(entry, raw)) continue;
    stated.spend(entry.uncompressedSize); // refuses an obvious bomb early; the others are counted while they inflate
    files.push({ name, entry });
  }
  assertWholeDirectory(source, entries);
  await assertNoOverlap(zip, files);
  return files;
}

/** The flag of an entry whose name is UTF-8. */
const UTF8 = 0x800;

/**
 * A Unicode path field (0x7075) comes first. Other names are mostly UTF-8 even where the entry's flag does not
 * say so, and otherwise in the DOS code page 437.
 */
function nameOf({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  const flags = isUtf8(fileNameRaw) ? generalPurposeBitFlag | UTF8 : generalPurposeBitFlag;
  return getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
}

/**
 * @returns false for a folder
 * @throws SourceRefusedError for anything but files and folders that can be read
 */
function isRegular(entry: Entry, name: string): boolean {
  const {
    externalFileAttributes: attributes,
    generalPurposeBitFlag: flags,
    compressionMethod: method,
  } = entry;
  const kind = (attributes >>> 16) & KIND;
  if (kind === LINK) throw entryRefused(name, 'is a link');
  if (kind !== 0 && kind !== REGULAR && kind !== FOLDER) throw entryRefused(name, 'is a device');
  const isFolder =
    name.endsWith('/') ||
    kind === FOLDER ||
    ((attributes & DOS_FOLDER) !== 0 && entry.uncompressedSize === 0);
  if (isFolder) return false;
  if ((flags & ENCRYPTED) !== 0) throw entryRefused(name, 'is encrypted');
  if (method !== STORED && method !== DEFLATED)
    throw entryRefused(name, `is compressed by method ${method}, which is not supported`);
  return true;
}

/** yauzl checks the stated size of an entry, but not its checksum. */
async function contentOf(
  zip: ZipFile,
  { name, entry }: NamedEntry,
  { budget, options }: { budget: InflationBudget; options: ReadOptions },
): Promise<Buffer | null> {
  const collector = new ContentCollector(options);
  let checksum = 0;
  const pieces: AsyncIterable<Buffer> = await zip.openReadStreamPromise(entry);
  for await (const piece of pieces) {
    options.signal.throwIfAborted();
    budget.spend(piece.length);
    checksum = crc32(piece, checksum);
    collector.push(piece);
  }
  if (checksum !== entry.crc32) throw entryRefused(name, 'has a checksum that does not match its content');
  return collector.content;
}

/** The length of the fixed part of a directory record. */
const RECORD_BYTES = 46;

/** Offsets in the end record of a zip. A comment may follow the record. */
const END = { bytes: 22, directorySize: 12, directoryStart: 16, commentLength: 20 } as const;
const IN_ZIP64 = 0xffff_ffff;

/**
 * A zip states its number of entries and the length of its directory. When they disagree, entries would be
 * skipped silently. A zip64 stores the length elsewhere and is not checked. @throws SourceRefusedError
 */
function assertWholeDirectory(source: Buffer, entries: readonly Entry[]): void {
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
async function assertNoOverlap(
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
