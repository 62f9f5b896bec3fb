import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { fromBufferPromise, getFileNameLowLevel, type Entry, type ZipFile } from 'yauzl';
import { ContentCollector, type ArchiveFile, type ReadOptions } from './archived-file.ts';
import { entryName, entryRefused } from './entry-name.ts';
import { EntryBudget, InflationBudget } from './limits.ts';
import { assertNoOverlap, assertWholeDirectory } from './zip-directory.ts';

/** Flags of an entry: it is encrypted, or the directory is. The strong kind yauzl refuses by itself. */
const ENCRYPTED = 0x1 | 0x2000;
const STORED = 0;
const DEFLATED = 8;

/** The kind of file in the upper half of an entry's external attributes, as Unix has it; 0 when it was made elsewhere. */
const KIND = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;
/** And in the lower half, as DOS has it. */
const DOS_FOLDER = 0x10;

interface NamedEntry {
  readonly name: string;
  readonly entry: Entry;
}

/**
 * The regular files of a zip, in the order of its directory, which is read and checked as a whole before anything is inflated.
 * @throws SourceRefusedError, or what yauzl and zlib throw at a damaged one
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
    stated.spend(entry.uncompressedSize); // a shortcut for bombs that say they are; the others are counted as they inflate
    files.push({ name, entry });
  }
  assertWholeDirectory(source, entries);
  await assertNoOverlap(zip, files);
  return files;
}

/** Where an entry doesn't say that its name is UTF-8 it mostly is all the same; else it is in the letters of DOS. */
function nameOf({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  return isUtf8(fileNameRaw)
    ? fileNameRaw.toString()
    : getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
}

/** @returns false for a folder @throws SourceRefusedError for anything but files and folders that can be read */
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

/** yauzl sees to it that an entry has the size that it says; its checksum is left to us. */
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
  if (checksum !== entry.crc32) throw entryRefused(name, 'has another checksum than its content');
  return collector.content;
}
