import { open, type FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Content } from '@pasteflow/client';

/** The content of one new paste. */
export interface ContentSource {
  /** In bytes. */
  readonly size: number;
  readonly content: Content;
  close(): Promise<void>;
}

/** More than any server accepts, and less than the memory of a small machine. */
export const MAX_BUFFERED_BYTES = 256 * 1_048_576;

/** Node.js replaces the bytes of an argument that are not UTF-8, so that the name of the file is lost. */
const UNREADABLE_CHARACTER = '\ufffd';
const NOT_UTF8 = 'The name of the file is not UTF-8. Send the file through stdin: pasteflow put - < FILE.';

/**
 * Opens a file, or stdin for `-`. A file is read again for each try of its request. A stream can't be read
 * twice, so it is read into memory first: stdin, and files that are none, such as a named pipe.
 * @param onSent called with the number of bytes of each chunk that is read for sending
 */
export async function openContent(
  name: string,
  stdin: Readable,
  onSent: (bytes: number) => void,
): Promise<ContentSource> {
  if (name === '-') return await buffered(stdin);
  const file = await open(name, 'r').catch((error: Error) => {
    throw name.includes(UNREADABLE_CHARACTER) ? new Error(NOT_UTF8, { cause: error }) : error;
  });
  try {
    const found = await file.stat();
    // As a read would fail, whose error has no path.
    if (found.isDirectory()) throw Object.assign(new Error('a directory'), { code: 'EISDIR', path: name });
    if (found.isFile()) return streamed(file, found.size, onSent);
    return await buffered(file.createReadStream());
  } catch (error) {
    await file.close();
    throw error;
  }
}

function streamed(file: FileHandle, size: number, onSent: (bytes: number) => void): ContentSource {
  const read = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) {
      const bytes = new Uint8Array(chunk as Buffer);
      onSent(bytes.length);
      yield bytes;
    }
  };
  const content = (): ReadableStream<Uint8Array> =>
    Readable.toWeb(Readable.from(read(), { objectMode: false })) as ReadableStream<Uint8Array>;
  return { size, content, close: () => file.close() };
}

async function buffered(stream: Readable): Promise<ContentSource> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Buffer);
    size += bytes.length;
    if (size > MAX_BUFFERED_BYTES)
      throw new Error('The input is larger than 256 MiB. Write it to a file first, and name the file.');
    chunks.push(bytes);
  }
  return { size, content: new Uint8Array(Buffer.concat(chunks)), close: () => Promise.resolve() };
}
