import type { Readable } from 'node:stream';

/**
 * Has `feed` put into an archive what `output` then gives. When it fails, the output fails with its error; when the output is destroyed,
 * `closed` aborts, and feeding has to end.
 */
export function feedArchive<T extends Readable>(output: T, feed: (closed: AbortSignal) => Promise<void>): T {
  const closed = new AbortController();
  output.once('close', () => closed.abort());
  feed(closed.signal).catch((error: unknown) => {
    output.destroy(error as Error);
  });
  return output;
}

/** Resolves by `begin`'s callback, or rejects by it or when the signal aborts. */
export async function untilDone(
  closed: AbortSignal,
  begin: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => reject(new Error('the archive is not wanted any more'));
    closed.throwIfAborted();
    closed.addEventListener('abort', stop, { once: true });
    begin((error) => {
      closed.removeEventListener('abort', stop);
      if (error) reject(error);
      else resolve();
    });
  });
}
