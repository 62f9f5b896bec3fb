import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fromBufferPromise, getFileNameLowLevel, type Entry, type ZipFile } from 'yauzl';
import {
  type ArchiveFile,
  ContentCollector,
  EntryBudget,
  entryName,
  entryRefused,
  InflationBudget,
  type ReadOptions,
} from './archive-rules.ts';
import { assertNoOverlap, assertWholeDirectory } from './zip-directory.ts';

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
      yield { name: file.name, content: await contentOf(zip, file, { budget, options }) };
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
