import { Readable } from 'node:stream';
import type { PasteFile } from '@pasteflow/domain';
import { ZipFile } from 'yazl';

export interface ZippedFiles {
  /** In the order in which their contents follow each other. */
  readonly files: readonly Pick<PasteFile, 'name' | 'size'>[];
  /** Of each file. */
  readonly mtime: Date;
}

const REGULAR_FILE = 0o100644;

/** The type declarations of yazl leave out the parameter of the callback. */
interface Measured {
  end(options: object, total: (bytes: number) => void): void;
}

/** The length of what `zipFiles` writes. */
export function zipBytesOf(zipped: ZippedFiles): number {
  let bytes = 0;
  const archive = archiveOf(zipped, () => {}) as unknown as Measured;
  archive.end({}, (total) => (bytes = total)); // at once, because all sizes are known
  return bytes;
}

/**
 * The files as a zip, each stored as it is: what stands in their content is read once, piece by piece, as the zip
 * is read.
 * @param content of the files, one after the other. It is closed in the end, and when the reader stops
 * @throws the error of the content, and for one that ends too early
 */
export async function* zipFiles(
  content: Iterable<Buffer> | AsyncIterable<Buffer>,
  zipped: ZippedFiles,
): AsyncGenerator<Buffer, void> {
  const pieces = piecesOf(content);
  let rest: Buffer | undefined;
  async function* next(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      rest ??= await nextOf(pieces);
      const piece = rest.subarray(0, left);
      left -= piece.length;
      rest = piece.length < rest.length ? rest.subarray(piece.length) : undefined;
      yield piece;
    }
  }
  const archive = archiveOf(zipped, (size, give) => {
    const file = Readable.from(next(size), { objectMode: false });
    give(
      null,
      file.once('error', (error) => output.destroy(error)),
    );
  });
  const output = archive.outputStream as Readable;
  archive.end();
  try {
    yield* output;
    await pieces.next(); // what is read to its end gives its connection back
  } finally {
    await pieces.return();
  }
}

type GiveStream = (error: null, stream: NodeJS.ReadableStream) => void;

/** @param open called for one file after the other */
function archiveOf({ files, mtime }: ZippedFiles, open: (size: number, give: GiveStream) => void): ZipFile {
  const archive = new ZipFile();
  const time = zipTimeOf(mtime);
  for (const { name, size } of files)
    archive.addReadStreamLazy(name, { mtime: time, mode: REGULAR_FILE, size, compress: false }, (give) =>
      open(size, give),
    );
  return archive;
}

async function* piecesOf(content: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* content;
}

async function nextOf(pieces: AsyncGenerator<Buffer, void>): Promise<Buffer> {
  const { value } = await pieces.next();
  if (value === undefined) throw new Error('The content ended before its last file.');
  return value;
}

/** What yazl asks a date for, in UTC. */
class DateInUtc extends Date {
  override getFullYear(): number {
    return this.getUTCFullYear();
  }
  override getMonth(): number {
    return this.getUTCMonth();
  }
  override getDate(): number {
    return this.getUTCDate();
  }
  override getHours(): number {
    return this.getUTCHours();
  }
  override getMinutes(): number {
    return this.getUTCMinutes();
  }
  override getSeconds(): number {
    return this.getUTCSeconds();
  }
}

/**
 * The time of a file in a zip. yazl writes a local time, beside the exact one that programs prefer: processes in
 * different time zones would write other bytes.
 */
export const zipTimeOf = (time: Date): Date => new DateInUtc(time);
