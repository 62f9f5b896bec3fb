/** Key sets and token answers have a few kilobytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * fetch for answers of the identity provider, with the whole body in memory. A signal in `init` bounds the
 * time of the body, too.
 * @throws RangeError for a body of more than 1 MiB, and what fetch throws
 */
export async function boundedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  // 204 and the like: a Response with a body of its own would be refused.
  const body = response.body === null ? null : await readWhole(url, response.body);
  return new Response(body, { status, headers });
}

async function readWhole(url: string, body: ReadableStream<Uint8Array>): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new RangeError(`${url} answered with more than ${MAX_BYTES} bytes`);
    chunks.push(new Uint8Array(chunk));
  }
  return new Blob(chunks);
}
