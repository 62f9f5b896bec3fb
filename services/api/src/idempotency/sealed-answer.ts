import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Answer } from '../http/response/answer.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What an answer is sealed with. */
export interface Seal {
  /** As the client sent it; the database has only its SHA-256. */
  readonly key: string;
  /** Whose key it is. */
  readonly caller: string;
  /** Of the request: an answer that is put into another row can't be opened there. */
  readonly fingerprint: Buffer;
}

/**
 * An answer as it may stand in the database: nobody reads it there, the delete token in it least of all, who doesn't have the key. So it is
 * as secret as the key is hard to guess: a UUID is, `1` isn't.
 * @returns nonce, tag and ciphertext
 */
export function sealAnswer(answer: Answer, seal: Seal): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, secretOf(seal), nonce).setAAD(seal.fingerprint);
  const text = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** @throws Error when it was sealed with anything else */
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
