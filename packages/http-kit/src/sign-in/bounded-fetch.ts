import { readWhole } from '../url-form.ts';

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
  if (response.body === null) return new Response(null, { status, headers });
  const body = await readWhole(response.body, MAX_BYTES);
  if (body === null) throw new RangeError(`${url} answered with more than ${MAX_BYTES} bytes`);
  return new Response(body, { status, headers });
}
