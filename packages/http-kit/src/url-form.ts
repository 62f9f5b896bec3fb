import type { IncomingMessage } from 'node:http';

/** A hundred short codes, a reason of 500 characters, or a token of 4 KB, with their percent-encoding. */
const MAX_FORM_BYTES = 16_384;

/**
 * The fields of the short form of a page, as browsers send it (application/x-www-form-urlencoded).
 * @param readBody the body, which may have so many bytes
 * @returns null: the request has another type
 */
export async function readUrlForm(
  req: IncomingMessage,
  readBody: (maxBytes: number) => Promise<Buffer>,
): Promise<URLSearchParams | null> {
  const [type = ''] = (req.headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return null;
  return new URLSearchParams((await readBody(MAX_FORM_BYTES)).toString());
}

/** @returns null: there are more than `maxBytes`, of which the rest is not read */
export async function readWhole(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | null> {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) return null;
    read.push(chunk);
  }
  return Buffer.concat(read);
}
