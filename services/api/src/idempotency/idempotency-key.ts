import type { IncomingMessage } from 'node:http';
import { RequestError } from '../http/errors/request-error.ts';

/** 1 to 255 printable characters of ASCII. A space at either end is HTTP's, not the key's. */
export const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The key of a request; null: it has none.
 * @throws RequestError malformed_request, also for two of them: it would be anybody's guess which one counts
 */
export function idempotencyKeyOf(req: IncomingMessage): string | null {
  const sent = req.headersDistinct['idempotency-key'];
  if (sent === undefined) return null;
  const [key = '', ...more] = sent;
  if (more.length === 0 && IDEMPOTENCY_KEY.test(key)) return key;
  throw new RequestError(
    'malformed_request',
    'Send one Idempotency-Key of 1 to 255 printable ASCII characters, e.g. a UUID.',
  );
}
