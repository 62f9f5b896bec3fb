import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Answer } from '../answers/answer.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The inputs that seal an answer and open it. */
export interface Seal {
  /** The Idempotency-Key as sent; the database has only its SHA-256. */
  readonly key: string;
  /** The owner of the key. */
  readonly caller: string;
  /** The fingerprint of the request: an answer that is copied into another row can't be opened there. */
  readonly fingerprint: Buffer;
}

/**
 * Encrypts an answer for the database, because it may contain a delete token. Only a client with the
 * Idempotency-Key can read it, so it is as secret as the key is hard to guess: a UUID is, `1` is not.
 * @returns nonce, tag and ciphertext
 */
export function sealAnswer(answer: Answer, seal: Seal): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, secretOf(seal), nonce).setAAD(seal.fingerprint);
  const text = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** @throws Error when the answer was sealed with other inputs */
export function openAnswer(sealed: Buffer, seal: Seal): Answer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, secretOf(seal), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(seal.fingerprint).setAuthTag(tag);
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  return JSON.parse(text.toString()) as Answer;
}

function secretOf({ key, caller }: Seal): Buffer {
  return Buffer.from(hkdfSync('sha256', key, caller, 'pasteflow idempotency answer', 32));
}
