import type { Writable } from 'node:stream';

/** Resolves when the chunk was taken over: a slow reader of stdout slows the download down. */
export function writeTo(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}
