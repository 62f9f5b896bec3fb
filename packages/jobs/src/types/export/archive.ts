import { fileNameOf } from '@pasteflow/domain';
import type { ExportablePaste } from '@pasteflow/postgres';
import type { Readable } from 'node:stream';

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

/**
 * Slices of `content` of up to `bytes` each, without copies: a consumer that was given all of it would keep
 * or inflate it in one go.
 */
export function* inPieces(content: Buffer, bytes: number): Generator<Buffer> {
  for (let start = 0; start < content.length; start += bytes) yield content.subarray(start, start + bytes);
}

/** The name of a paste's file in an archive. It begins with the short code, which makes it unique. */
export function archivedName({ shortCode, title }: Pick<ExportablePaste, 'shortCode' | 'title'>): string {
  const name = fileNameOf(title, shortCode);
  return name.startsWith(`${shortCode}.`) ? name : `${shortCode}-${name}`;
}

/**
 * Runs `feed`, which writes the files to the archive behind `output`. When `feed` fails, the output is
 * destroyed with its error. When the output is destroyed, `closed` is aborted and `feed` must end.
 */
export function feedArchive<T extends Readable>(output: T, feed: (closed: AbortSignal) => Promise<void>): T {
  const closed = new AbortController();
  output.once('close', () => closed.abort());
  feed(closed.signal).catch((error: unknown) => {
    output.destroy(error as Error);
  });
  return output;
}

/** Resolves or rejects when `begin` calls back. Rejects when the signal is aborted. */
export async function untilDone(
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
