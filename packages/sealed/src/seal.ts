import { deriveKey, gcmOf, newSecretKey, type SecretKey, toBase64 } from './keys.ts';
import { deflate } from './deflate.ts';
import {
  textOfAuthenticatedData,
  type AuthenticatedData,
  type Formatter,
  type SealedPaste,
} from './sealed-paste.ts';
import { encodeMessage, type Message } from './message.ts';

/**
 * OWASP's figure for PBKDF2 with HMAC-SHA-256. It slows down guesses at a password: the key in the link can't
 * be guessed.
 */
const ITERATIONS = 600_000;
const IV_BYTES = 16;
const SALT_BYTES = 8;

interface Sealed {
  readonly document: SealedPaste;
  readonly key: SecretKey;
}

/** Encrypts a message with a new key. */
export async function seal(
  message: Message,
  {
    password = '',
    burn = false,
  }: {
    /** Empty: the link alone opens the paste. */
    readonly password?: string;
    readonly burn?: boolean;
  } = {},
): Promise<Sealed> {
  const cipher = [
    toBase64(crypto.getRandomValues(new Uint8Array(IV_BYTES))),
    toBase64(crypto.getRandomValues(new Uint8Array(SALT_BYTES))),
    ITERATIONS,
    256,
    128,
    'aes',
    'gcm',
    'zlib',
  ] as const;
  const adata: AuthenticatedData = [cipher, formatterOf(message), 0, burn ? 1 : 0];
  const key = newSecretKey();
  const cipherKey = await deriveKey(key, new TextEncoder().encode(password), cipher);
  const plain = await deflate(new TextEncoder().encode(encodeMessage(message)));
  const ciphertext = await crypto.subtle.encrypt(
    gcmOf(cipher, textOfAuthenticatedData(adata)),
    cipherKey,
    plain,
  );
  return { document: { v: 2, adata, ct: toBase64(new Uint8Array(ciphertext)) }, key };
}

/**
 * Everybody can read the formatter, so that it says nothing of the language. PrivateBin's page needs
 * `markdown` to show it so.
 */
function formatterOf({ syntax }: Message): Formatter {
  return syntax === 'markdown' ? 'markdown' : 'plaintext';
}
