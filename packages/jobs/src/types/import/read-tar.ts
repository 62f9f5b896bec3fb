import { pasteOf } from '../export/archive-formats.ts';
import {
  BLOCK_BYTES,
  type ArchiveFile,
  ContentCollector,
  EntryBudget,
  entryName,
  entryRefused,
  ExtensionBudget,
  type InflationBudget,
  type ReadOptions,
  SourceRefusedError,
} from './archive-rules.ts';
import { ByteSource } from './byte-source.ts';
import {
  isExtension,
  isZero,
  tarExtension,
  type TarExtension,
  tarHeader,
  type TarHeader,
} from './tar-header.ts';

interface TarEntry extends TarHeader {
  readonly isSparse: boolean;
}

/**
 * Yields the regular files of a tar in the formats v7, POSIX (ustar and pax) and GNU. It reads block by block
 * on demand. tar-stream's extractor is not used because it accepts all it is sent, including unlimited
 * headers and entries after a refused one.
 * @throws SourceRefusedError, or what `bytes` throws
 */
export async function* readTar(
  bytes: Iterable<Buffer> | AsyncIterable<Buffer>,
  options: ReadOptions & {
    /**
     * Limits the sizes that headers state, to refuse an obvious bomb early. The bytes out of a gzip are counted
     * by gunzip.
     */
    readonly stated: InflationBudget;
  },
): AsyncGenerator<ArchiveFile> {
  const source = new ByteSource(bytes, options.signal);
  const budget = new EntryBudget();
  try {
    for await (const entry of entriesOf(source)) {
      budget.spend(1);
      const name = entryName(entry.name);
      if (!isRegular(entry)) continue; // a folder has no content, whatever size its header states
      options.stated.spend(entry.size);
      const collector = new ContentCollector(options);
      await streamPadded(source, entry.size, collector);
      yield { name, content: collector.content, ofPaste: pasteOf(entry.group) };
    }
  } finally {
    await source.close();
  }
}

/**
 * Yields the header of each entry, merged with its extension headers. The caller must then read the entry's
 * content from the source.
 */
async function* entriesOf(source: ByteSource): AsyncGenerator<TarEntry> {
  const budget = new ExtensionBudget();
  let extension: TarExtension = {};
  let endsWithZeros = false;
  for (let block = await source.take(BLOCK_BYTES); block !== null; block = await source.take(BLOCK_BYTES)) {
    // A tar ends with zeros. Concatenated tars continue after them.
    endsWithZeros = isZero(block);
    if (endsWithZeros) continue;
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
  // Only the missing zeros reveal a tar that was truncated between two files.
  if (!endsWithZeros) throw new SourceRefusedError('it is truncated: the zeros that end a tar are missing');
}

function entryOf(header: TarHeader, extension: TarExtension): TarEntry {
  const { paxName, gnuName, size = header.size, isSparse = false } = extension;
  const name = paxName || gnuName || header.name;
  // The v7 format has no type for folders: their names end with a slash. The full name counts, because a
  // header may truncate it at a slash.
  const isFolder = header.type === '0' && size === 0 && name.endsWith('/');
  return { ...header, name, type: isFolder ? '5' : header.type, size, isSparse };
}

/** @returns false for a folder @throws SourceRefusedError for anything but files and folders */
function isRegular({ name, type, size, isSparse }: TarEntry): boolean {
  if (isSparse) throw entryRefused(name, 'is a sparse file');
  switch (type) {
    case '0':
    case '7': // contiguous file, of file systems that no longer exist
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

/** Streams content to the collector and skips the padding of its last block. */
async function streamPadded(source: ByteSource, bytes: number, collector: ContentCollector): Promise<void> {
  await source.pour(bytes, (piece) => collector.push(piece));
  await source.pour((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES, () => {});
}
