/** A few kilobytes of deflate can become gigabytes. */
export class TooMuchContentError extends Error {
  constructor(maxBytes: number) {
    super(`The decrypted content is larger than ${maxBytes} bytes.`);
    this.name = 'TooMuchContentError';
  }
}

export async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await collect(through(bytes, new CompressionStream('deflate-raw')), Infinity);
}

/** @throws TooMuchContentError; TypeError for bytes that are no deflate */
export async function inflate(
  bytes: Uint8Array<ArrayBuffer>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  return await collect(through(bytes, new DecompressionStream('deflate-raw')), maxBytes);
}

function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream().pipeThrough(transform);
}

/** Stops at the bound: nothing behind it is decompressed. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw new TooMuchContentError(maxBytes);
    }
    chunks.push(read.value);
  }
  const whole = new Uint8Array(length);
  let filled = 0;
  for (const chunk of chunks) {
    whole.set(chunk, filled);
    filled += chunk.length;
  }
  return whole;
}
