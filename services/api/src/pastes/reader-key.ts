import type { Request } from 'express';
import { validationFailed } from '../http/errors/request-error.ts';
import { idempotencyKeyOf } from '../idempotency/idempotency-key.ts';
import { hashOfSecret, newSecret } from '../identity/secret.ts';

/**
 * By this, the reader of a paste that is deleted when it is read is known when the reader repeats the
 * request.
 */
export interface ReaderKey {
  readonly text: string;
  readonly hash: Buffer;
  /** False: the key was made for this request, so that the reader learns it from the answer. */
  readonly isSent: boolean;
}

/** Whoever guesses the key of a reader gets the content for five minutes. */
export const MIN_KEY_LENGTH = 16;

/**
 * @param sent the key that the request has; default: its Idempotency-Key @throws RequestError
 * malformed_request, validation_failed
 */
export function readerKeyOf(req: Request, sent: string | null = idempotencyKeyOf(req)): ReaderKey {
  if (sent !== null && sent.length < MIN_KEY_LENGTH) {
    const message = `must have at least ${MIN_KEY_LENGTH} characters that nobody can guess, e.g. a UUID: it gives access to the content`;
    throw validationFailed([{ path: 'Idempotency-Key', message }]);
  }
  const text = sent ?? newSecret();
  return { text, hash: hashOfSecret(text), isSent: sent !== null };
}
