import { finished, Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { TooManyFilesError, type ArchiveFormat, type ExportedFile } from './archive-format.ts';
import { inPieces } from '../../../content/in-pieces.ts';
import { archivedName } from './file-name.ts';
import { feedArchive, untilDone } from './feed-archive.ts';

/**
 * A zip ends with a directory of all its files, which is in memory until then, half a kilobyte each; and yazl looks through it at each
 * file. The other formats have no such bound.
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
 * Resolves when the content has been taken. yazl keeps whatever a file was added with until the end: here that is a function that has let go
 * of its stream by then. It would also keep a buffer that it was given.
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
  letGo(archive);
}

/** What yazl keeps of a file; its types don't have it. */
interface KeptEntry {
  utf8FileName: Buffer;
  doFileDataPump: unknown;
}

/**
 * Of the file that was added last, yazl keeps its name and the function that gave its content, until the end. The name is a slice of the pool
 * that Node takes short buffers from, and keeps all 64 KiB of it: 2000 files kept 128 MiB. A copy of its own doesn't.
 */
function letGo(archive: ZipFile): void {
  const entry = (archive as unknown as { readonly entries: readonly KeptEntry[] }).entries.at(-1);
  if (entry === undefined) return;
  const name = Buffer.alloc(entry.utf8FileName.length); // never of the pool
  entry.utf8FileName.copy(name);
  entry.utf8FileName = name;
  entry.doFileDataPump = null; // it has been called
}
