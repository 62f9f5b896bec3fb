import { finished, Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { TooManyFilesError, type ArchiveFormat, type ExportedFile } from './archive-format.ts';
import { inPieces } from '../../../content/in-pieces.ts';
import { archivedName } from './file-name.ts';
import { feedArchive, untilDone } from './feed-archive.ts';

/**
 * A zip ends with a directory of all its files, which is held in memory until then, half a kilobyte for each, and yazl searches it for each
 * file. The other formats have no such limit.
 */
const MAX_ZIP_FILES = 50_000;

const PIECE_BYTES = 64 * 1024;
const REGULAR_FILE = 0o100644;

export function zipUpTo(maxFiles: number): ArchiveFormat {
  return {
    extension: '.zip',
    contentType: 'application/zip',
    maxFiles,
    write: (files) => {
      const archive = new ZipFile();
      return feedArchive(archive.outputStream as Readable, async (closed) => {
        let count = 0;
        for await (const file of files) {
          count += 1;
          if (count > maxFiles) throw new TooManyFilesError(maxFiles);
          await add(archive, file, closed);
        }
        archive.end();
      });
    },
  };
}

export const zip = zipUpTo(MAX_ZIP_FILES);

/**
 * Adds a file, and resolves when its content has been written. yazl keeps what a file was added with until the end of the archive: a buffer
 * would stay in memory. It gets a function instead, which drops its stream after one call.
 */
async function add(archive: ZipFile, { paste, content }: ExportedFile, closed: AbortSignal): Promise<void> {
  let source: Readable | null = Readable.from(inPieces(content, PIECE_BYTES));
  const options = { mtime: paste.createdAt, mode: REGULAR_FILE, size: content.length };
  await untilDone(closed, (done) => {
    finished(source as Readable, done);
    archive.addReadStreamLazy(archivedName(paste), options, (give) => {
      give(null, source as Readable);
      source = null;
    });
  });
  dropContent(archive);
}

/** The entry that yazl keeps for a file. Its type declarations omit these fields. */
interface KeptEntry {
  utf8FileName: Buffer;
  doFileDataPump: unknown;
}

/**
 * Frees memory of the last file. yazl keeps its name, which is a slice of the 64 KiB pool of Node's short buffers and keeps the whole pool:
 * 2000 files kept 128 MiB. A copy of the name does not.
 */
function dropContent(archive: ZipFile): void {
  const entry = (archive as unknown as { readonly entries: readonly KeptEntry[] }).entries.at(-1);
  if (entry === undefined) return;
  const name = Buffer.alloc(entry.utf8FileName.length); // `alloc` never uses the pool
  entry.utf8FileName.copy(name);
  entry.utf8FileName = name;
  entry.doFileDataPump = null; // has been called
}
