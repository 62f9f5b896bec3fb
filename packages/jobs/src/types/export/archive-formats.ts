import { isUtf8 } from 'node:buffer';
import { finished, pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { exportedOptionNames, valuesOf } from '@pasteflow/domain';
import { pack } from 'tar-stream';
import { ZipFile } from 'yazl';
import { fileNameOf } from '@pasteflow/domain';
import type { ExportablePaste } from '@pasteflow/postgres';
import { zipTimeOf } from '../../zip-files.ts';

/** A paste with its content, to be written to an archive. */
export interface ExportedFile {
  readonly paste: ExportablePaste;
  readonly content: Buffer;
}

/** A format of an export. */
export interface ArchiveFormat {
  /** The extension of the object's key, with its dot. */
  readonly extension: string;
  readonly contentType: string;
  /**
   * Writes the files to an archive with backpressure: the next file is requested when the output was read. An
   * error on one side ends the other.
   */
  write(files: AsyncIterable<ExportedFile>): Readable;
}

/** A multiple of 3, so that the base64 of a piece has no padding. */
const BASE64_PIECE_BYTES = 48 * 1024;

const ndjson: ArchiveFormat = {
  extension: '.ndjson',
  contentType: 'application/x-ndjson',
  write: (files) => Readable.from(lines(files), { objectMode: false }),
};

async function* lines(files: AsyncIterable<ExportedFile>): AsyncGenerator<Buffer> {
  for await (const file of files) {
    yield* line(file);
  }
}

/** One line for each paste, in pieces, because JSON escapes can make content six times as long. */
function* line({ paste, content }: ExportedFile): Generator<Buffer> {
  const { slug, visibility, ...options } = valuesOf(exportedOptionNames, paste);
  const fields = {
    short_code: paste.shortCode,
    slug,
    ...options,
    visibility,
    created_at: paste.createdAt.toISOString(),
    expires_at: paste.expiresAt?.toISOString() ?? null,
    content_hash: paste.contentHash,
    size_bytes: paste.sizeBytes,
  };
  yield open(fields);
  if (paste.files === null) yield* contentField(content);
  else {
    yield Buffer.from(',"files":[');
    for (const [n, { name, syntax, offset, size }] of paste.files.entries()) {
      if (n > 0) yield Buffer.from(',');
      yield open({ name, syntax });
      yield* contentField(content.subarray(offset, offset + size));
      yield Buffer.from('}');
    }
    yield Buffer.from(']');
  }
  yield Buffer.from('}\n');
}

/** An object without its end. */
const open = (fields: object): Buffer => Buffer.from(JSON.stringify(fields).slice(0, -1));

/** Content that is not UTF-8 is base64. */
function* contentField(content: Buffer): Generator<Buffer> {
  const isText = isUtf8(content);
  yield Buffer.from(`,"${isText ? 'content' : 'content_base64'}":"`);
  yield* isText ? escaped(content) : encoded(content);
  yield Buffer.from('"');
}

function* escaped(content: Buffer): Generator<Buffer> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // otherwise a BOM at the start would be lost
  for (const piece of inPieces(content, BASE64_PIECE_BYTES))
    yield Buffer.from(JSON.stringify(decoder.decode(piece, { stream: true })).slice(1, -1));
}

function* encoded(content: Buffer): Generator<Buffer> {
  for (const piece of inPieces(content, BASE64_PIECE_BYTES)) yield Buffer.from(piece.toString('base64'));
}

/** What a header of a tar has room for. The folder of the files has the whole short code. */
const MAX_GROUP_CHARACTERS = 31;

const tarGz: ArchiveFormat = {
  extension: '.tar.gz',
  contentType: 'application/gzip',
  write: (files) => {
    const tar = pack();
    const gzip = createGzip();
    // The gzip stream reports the same errors. Without a listener the error event would end the process.
    tar.on('error', () => {});
    pipeline(Readable.from(tar), gzip, () => {});
    return feedArchive(gzip, async (closed) => {
      for await (const exported of files)
        for (const { name, content, mtime, comment } of archivedFiles(exported)) {
          const group = comment === '' ? {} : { gname: comment.slice(0, MAX_GROUP_CHARACTERS) };
          const header = { name, mtime, mode: 0o644, size: content.length, ...group };
          await untilDone(closed, (done) => {
            tar.entry({ ...header, type: 'file' }, content, done).on('error', () => {});
          });
        }
      tar.finalize();
    });
  },
};

const ZIP_PIECE_BYTES = 64 * 1024;
const REGULAR_FILE = 0o100644;

/**
 * A zip ends with a directory of all its files, which is held in memory until then, half a kilobyte for each,
 * and yazl searches it for each file.
 */
const zip: ArchiveFormat = {
  extension: '.zip',
  contentType: 'application/zip',
  write: (files) => {
    const archive = new ZipFile();
    return feedArchive(archive.outputStream as Readable, async (closed) => {
      for await (const exported of files)
        for (const file of archivedFiles(exported)) await add(archive, file, closed);
      archive.end();
    });
  },
};

/**
 * Adds a file, and resolves when its content has been written. yazl keeps what a file was added with until
 * the end of the archive: a buffer would stay in memory. It gets a function instead, which drops its stream
 * after one call.
 */
async function add(
  archive: ZipFile,
  { name, content, mtime, comment }: ArchivedFile,
  closed: AbortSignal,
): Promise<void> {
  let source: Readable | null = Readable.from(inPieces(content, ZIP_PIECE_BYTES));
  const options = {
    mtime: zipTimeOf(mtime),
    mode: REGULAR_FILE,
    size: content.length,
    fileComment: comment,
  };
  await untilDone(closed, (done) => {
    finished(source as Readable, done);
    archive.addReadStreamLazy(name, options, (give) => {
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
 * Frees memory of the last file. yazl keeps its name, which is a slice of the 64 KiB pool of Node's short
 * buffers and keeps the whole pool: 2000 files kept 128 MiB. A copy of the name does not.
 */
function dropContent(archive: ZipFile): void {
  const entry = (archive as unknown as { readonly entries: readonly KeptEntry[] }).entries.at(-1);
  if (entry === undefined) return;
  const name = Buffer.alloc(entry.utf8FileName.length); // `alloc` never uses the pool
  entry.utf8FileName.copy(name);
  entry.utf8FileName = name;
  entry.doFileDataPump = null; // has been called
}

/** As clients name them. */
export const exportFormats = ['zip', 'tar.gz', 'ndjson'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const archiveFormats: Readonly<Record<ExportFormat, ArchiveFormat>> = { zip, 'tar.gz': tarGz, ndjson };

/**
 * Slices of `content` of up to `bytes` each, without copies: a consumer that was given all of it would keep
 * or inflate it in one go.
 */
export function* inPieces(content: Buffer, bytes: number): Generator<Buffer> {
  for (let start = 0; start < content.length; start += bytes) yield content.subarray(start, start + bytes);
}

interface ArchivedFile {
  readonly name: string;
  readonly content: Buffer;
  readonly mtime: Date;
  /** Of the file in a zip, and the name of its group in a tar, which has no comments that all programs pass over; empty: none. */
  readonly comment: string;
}

/** A file, or of a paste with several files a folder of them. */
function* archivedFiles({ paste, content }: ExportedFile): Generator<ArchivedFile> {
  const mtime = paste.createdAt;
  const name = archivedName(paste);
  if (paste.files === null) {
    yield { name, content, mtime, comment: '' };
    return;
  }
  const folder = name.replace(/(.)\.[A-Za-z0-9]{1,10}$/, '$1');
  for (const file of paste.files ?? [])
    yield {
      name: `${folder}/${file.name}`,
      content: content.subarray(file.offset, file.offset + file.size),
      mtime,
      comment: `${FILE_OF_PASTE}${paste.shortCode}`,
    };
}

/**
 * Begins the comment of a file that is one of several files of a paste, so that an import makes one paste of
 * them again: any archive may have a folder whose name looks like one of an export.
 */
const FILE_OF_PASTE = 'pasteflow paste ';

/** What an export has said of the paste of a file. @param comment in the archive */
export function pasteOf(comment: string): string | undefined {
  return comment.startsWith(FILE_OF_PASTE) ? comment : undefined;
}

/** The name of a paste's file in an archive. It begins with the short code, which makes it unique. */
function archivedName({ shortCode, title }: Pick<ExportablePaste, 'shortCode' | 'title'>): string {
  const name = fileNameOf(title, shortCode);
  return name.startsWith(`${shortCode}.`) ? name : `${shortCode}-${name}`;
}

/**
 * Runs `feed`, which writes the files to the archive behind `output`. When `feed` fails, the output is
 * destroyed with its error. When the output is destroyed, `closed` is aborted and `feed` must end.
 */
function feedArchive<T extends Readable>(output: T, feed: (closed: AbortSignal) => Promise<void>): T {
  const closed = new AbortController();
  output.once('close', () => closed.abort());
  feed(closed.signal).catch((error: unknown) => {
    output.destroy(error as Error);
  });
  return output;
}

/** Resolves or rejects when `begin` calls back. Rejects when the signal is aborted. */
async function untilDone(
  closed: AbortSignal,
  begin: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => reject(new Error('The archive was closed before its end.'));
    closed.throwIfAborted();
    closed.addEventListener('abort', stop, { once: true });
    begin((error) => {
      closed.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve();
    });
  });
}
