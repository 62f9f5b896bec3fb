import type { IncomingMessage } from 'node:http';
import { RequestError } from '../answers/request-error.ts';

/** 1 to 255 printable ASCII characters. HTTP strips spaces at either end. */
export const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * The Idempotency-Key of a request; null: none.
 * @throws RequestError malformed_request, also for several keys, because which one counts would be undefined
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
