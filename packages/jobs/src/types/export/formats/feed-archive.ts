import type { Readable } from 'node:stream';

/**
 * Runs `feed`, which writes the files to the archive behind `output`. When `feed` fails, the output is destroyed with its error. When the
 * output is destroyed, `closed` is aborted and `feed` must end.
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
