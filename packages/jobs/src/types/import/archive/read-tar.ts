import { extract, type Extract, type Header } from 'tar-stream';
import { ImportRefusedError } from '../import-refused.ts';
import { ContentCollector, type ArchiveFile, type ReadOptions } from './archive-file.ts';
import { entryName, refuseEntry } from './entry-name.ts';
import { EntryBudget, type InflationBudget } from './limits.ts';
import { BLOCK_BYTES, isZero } from './tar-header.ts';

interface TarOptions extends ReadOptions {
  /** For the sizes that the headers state: a shortcut for bombs that say they are. What comes out of a gzip is counted there. */
  readonly stated: InflationBudget;
}

/**
 * The regular files of a tar, one after the other. Names and sizes come from tar-stream, which has seen to GNU's and pax's long forms.
 * @throws ImportRefusedError, or what tar-stream throws at a damaged one
 */
export async function* readTar(
  bytes: Iterable<Buffer> | AsyncIterable<Buffer>,
  options: TarOptions,
): AsyncGenerator<ArchiveFile> {
  const budget = new EntryBudget();
  // Of before 1988, too: the checksum has to be right anyway. Its types don't know the option.
  const tar = extract({ allowUnknownFormat: true } as object);
  tar.on('error', () => {}); // it is thrown below; an error event that nobody listens to would end the process
  const feeding = feed(bytes, tar);
  try {
    for await (const entry of tar) {
      budget.spend(1);
      const name = entryName(entry.header.name);
      const isFile = isRegular(entry.header);
      options.stated.spend(entry.header.size);
      const collector = new ContentCollector(options);
      for await (const piece of entry as AsyncIterable<Buffer>) collector.push(piece);
      if (isFile) yield { name, content: collector.content };
    }
  } finally {
    tar.destroy(null);
    await feeding;
  }
}

/** @returns false for a folder @throws ImportRefusedError for anything but files and folders */
function isRegular({ name, type, pax }: Header): boolean {
  if (typeof pax === 'object' && Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.')))
    throw refuseEntry(name, 'is a sparse file');
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return true;
    case 'directory':
      return false;
    case 'symlink':
    case 'link':
      throw refuseEntry(name, 'is a link');
    case 'character-device':
    case 'block-device':
    case 'fifo':
      throw refuseEntry(name, 'is a device');
    default:
      throw refuseEntry(name, 'is neither a file nor a folder');
  }
}

/** Writes the bytes as they are taken. What goes wrong is the error of whoever reads the entries. Never rejects. */
async function feed(bytes: Iterable<Buffer> | AsyncIterable<Buffer>, tar: Extract): Promise<void> {
  const end = new TailWatch();
  try {
    for await (const piece of bytes) {
      end.push(piece);
      if (!tar.write(piece)) await drained(tar);
      if (tar.destroyed) return;
    }
    end.assertEnd();
    tar.end(null);
  } catch (error) {
    tar.destroy(error as Error);
  }
}

async function drained(tar: Extract): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      tar.off('drain', done);
      tar.off('close', done);
      resolve();
    };
    tar.on('drain', done);
    tar.on('close', done);
  });
}

/** A tar ends with blocks of zeros. One that was cut off between two files looks whole but for them. */
class TailWatch {
  #tail = Buffer.alloc(0);

  push(piece: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-BLOCK_BYTES)]).subarray(-BLOCK_BYTES);
  }

  assertEnd(): void {
    if (this.#tail.length < BLOCK_BYTES || !isZero(this.#tail))
      throw new ImportRefusedError('it is cut off: the zeros that end a tar are missing');
  }
}
