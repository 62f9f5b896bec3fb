import { SourceRefusedError } from './source-refused.ts';
import { ContentCollector, type ArchiveFile, type ReadOptions } from './archived-file.ts';
import { ByteSource } from './byte-source.ts';
import { entryName, entryRefused } from './entry-name.ts';
import { EntryBudget, ExtensionBudget, type InflationBudget } from './limits.ts';
import { isExtension, tarExtension, type TarExtension } from './tar-extension.ts';
import { BLOCK_BYTES, isZero, tarHeader, type TarHeader } from './tar-header.ts';

interface TarOptions extends ReadOptions {
  /** For the sizes that the headers state: a shortcut for bombs that say they are. What comes out of a gzip is counted there. */
  readonly stated: InflationBudget;
}

interface TarEntry extends TarHeader {
  readonly isSparse: boolean;
}

/**
 * The regular files of a tar, one after the other, in the dialects of before 1988, POSIX (ustar and pax) and GNU. It is read here, a block
 * when it is wanted, since tar-stream's extractor takes what it is sent: headers without bound, in one go, of entries that were refused.
 * @throws SourceRefusedError, or what `bytes` throws
 */
export async function* readTar(
  bytes: Iterable<Buffer> | AsyncIterable<Buffer>,
  options: TarOptions,
): AsyncGenerator<ArchiveFile> {
  const source = new ByteSource(bytes, options.signal);
  const budget = new EntryBudget();
  try {
    for await (const entry of entriesOf(source)) {
      budget.spend(1);
      const name = entryName(entry.name);
      if (!isRegular(entry)) continue; // a folder has no content, whatever size it says
      options.stated.spend(entry.size);
      const collector = new ContentCollector(options);
      await streamPadded(source, entry.size, collector);
      yield { name, content: collector.content };
    }
  } finally {
    await source.close();
  }
}

/** The headers of its entries, each with what other headers say of it. Whoever takes one takes its content from the source. */
async function* entriesOf(source: ByteSource): AsyncGenerator<TarEntry> {
  const budget = new ExtensionBudget();
  let extension: TarExtension = {};
  let atItsEnd = false;
  for (let block = await source.take(BLOCK_BYTES); block !== null; block = await source.take(BLOCK_BYTES)) {
    // A tar ends with zeros. Another may follow: they were put one behind the other.
    atItsEnd = isZero(block);
    if (atItsEnd) continue;
    const header = tarHeader(block);
    if (header === null) throw new SourceRefusedError('it has a damaged header');
    if (isExtension(header)) {
      budget.spend(header.size);
      const collector = new ContentCollector({ maxKeptBytes: header.size });
      await streamPadded(source, header.size, collector);
      extension = { ...extension, ...tarExtension(header, collector.content as Buffer) };
    } else {
      yield entryOf(header, extension);
      extension = {};
    }
  }
  // One that was cut off between two files looks whole but for them.
  if (!atItsEnd) throw new SourceRefusedError('it is cut off: the zeros that end a tar are missing');
}

function entryOf(header: TarHeader, extension: TarExtension): TarEntry {
  const { paxName, gnuName, size = header.size, isSparse = false } = extension;
  const name = paxName || gnuName || header.name;
  // Before there was a kind for folders, they were told by their names: the whole ones, since a header's own may be cut off at a slash.
  const isFolder = header.type === '0' && size === 0 && name.endsWith('/');
  return { name, type: isFolder ? '5' : header.type, size, isSparse };
}

/** @returns false for a folder @throws SourceRefusedError for anything but files and folders */
function isRegular({ name, type, size, isSparse }: TarEntry): boolean {
  if (isSparse) throw entryRefused(name, 'is a sparse file');
  switch (type) {
    case '0':
    case '7': // contiguous: of a file system that was
      if (Number.isNaN(size)) throw entryRefused(name, 'has a damaged size');
      return true;
    case '5':
      return false;
    case '1':
    case '2':
      throw entryRefused(name, 'is a link');
    case '3':
    case '4':
    case '6':
      throw entryRefused(name, 'is a device');
    default:
      throw entryRefused(name, 'is neither a file nor a folder');
  }
}

/** Content, and what fills its last block. */
async function streamPadded(source: ByteSource, bytes: number, collector: ContentCollector): Promise<void> {
  await source.pour(bytes, (piece) => collector.push(piece));
  await source.pour((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES, () => {});
}
