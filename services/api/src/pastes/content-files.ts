import type { PasteFile } from '@pasteflow/domain';
import { encodingOf, PasteLines, textOf, type FilesPage } from '@pasteflow/web';
import { withKind } from './image.ts';

/** The bytes of the files of a paste, one after the other, from those of its content as they arrive. */
class ContentFiles {
  readonly #pieces: AsyncIterator<Buffer> | Iterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(content: Iterable<Buffer> | AsyncIterable<Buffer>) {
    this.#pieces =
      Symbol.asyncIterator in content ? content[Symbol.asyncIterator]() : content[Symbol.iterator]();
  }

  /** What was not read of the file before is left out. */
  async *bytesOf({ offset, size }: PasteFile): AsyncGenerator<Buffer, void> {
    const end = offset + size;
    while (this.#position < end) {
      const bytes = await this.#next((this.#position < offset ? offset : end) - this.#position);
      if (bytes === null) return;
      if (this.#position > offset) yield bytes;
    }
  }

  /** What is read to its end gives its connection back. */
  async end(): Promise<void> {
    await this.#pieces.next();
  }

  /** Call it in any case, so that the content is not left open. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #next(maxBytes: number): Promise<Buffer | null> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#pieces.next();
      if (done === true) return null;
      this.#rest = value;
    }
    const bytes = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(bytes.length);
    this.#position += bytes.length;
    return bytes;
  }
}

/**
 * The page of a paste of several files, as the bytes of its content arrive: one pass, whatever their number. What a
 * file is, its byte order mark and its UTF-8 are judged for each file by itself.
 * @param isBinaryText shows also what is no text as one
 */
export async function* markupOfFiles(
  page: FilesPage,
  files: readonly PasteFile[],
  content: Iterable<Buffer> | AsyncIterable<Buffer>,
  { isBinaryText }: { readonly isBinaryText: boolean },
): AsyncGenerator<Buffer> {
  const each = new ContentFiles(content);
  let linesAbove = 0;
  try {
    yield Buffer.from(page.head);
    for (const [index, file] of files.entries()) {
      const number = index + 1;
      const { kind: found, beginning, bytes } = await withKind(each.bytesOf(file));
      const kind = found === 'binary' && isBinaryText ? 'text' : found;
      const { before, after, language } = page.partOf(
        { file, number, kind },
        textOf(beginning.subarray(0, 400)),
      );
      const lines = new PasteLines(encodingOf(beginning), language, { prefix: `f${number}-`, linesAbove });
      yield Buffer.from(before);
      if (kind === 'text') {
        for await (const piece of bytes) yield Buffer.from(lines.push(piece));
        yield Buffer.from(lines.end());
        linesAbove += lines.lineCount;
      } else if (kind !== 'binary') yield* inBase64(bytes);
      yield Buffer.from(after(lines.warnings));
    }
    await each.end();
    yield Buffer.from(page.tail);
  } finally {
    await each.close();
  }
}

/** Whole groups of three bytes, so that no padding is inside of the text. */
async function* inBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytes) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = all.length - (all.length % 3);
    yield Buffer.from(all.toString('base64', 0, end));
    rest = all.subarray(end);
  }
  yield Buffer.from(rest.toString('base64'));
}
