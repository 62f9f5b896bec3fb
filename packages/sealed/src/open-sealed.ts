import { deriveKey, fromBase64, gcmOf, type SecretKey } from './keys.ts';
import { inflate } from './deflate.ts';
import { type SealedPaste, textOfAuthenticatedData } from './sealed-paste.ts';
import { decodeMessage, type Message } from './message.ts';

/** The key or the password is wrong, or somebody has changed the document: the cipher can't tell which. */
export class WrongKeyError extends Error {
  constructor(options?: ErrorOptions) {
    super('The key or the password is wrong, or the paste was changed.', options);
    this.name = 'WrongKeyError';
  }
}

/** The largest paste of a usual server, in a text that compresses well. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Decrypts a document.
 * @param password empty: none
 * @throws WrongKeyError, TooMuchContentError; Error for a message that no client writes
 */
export async function openSealed(
  document: SealedPaste,
  key: SecretKey,
  { password = '', maxBytes = MAX_MESSAGE_BYTES }: { password?: string; maxBytes?: number } = {},
): Promise<Message> {
  const [cipher] = document.adata;
  const plain = await decrypt(document, key, bytesOfPassword(password));
  const bytes = cipher[7] === 'zlib' ? await inflate(plain, maxBytes) : plain;
  return decodeMessage(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

async function decrypt(
  { adata, ct }: SealedPaste,
  key: SecretKey,
  passwords: readonly Uint8Array[],
): Promise<Uint8Array<ArrayBuffer>> {
  const [cipher] = adata;
  const parameters = gcmOf(cipher, textOfAuthenticatedData(adata));
  const ciphertext = fromBase64(ct);
  let cause: unknown;
  for (const password of passwords) {
    const cipherKey = await deriveKey(key, password, cipher);
    try {
      return new Uint8Array(await crypto.subtle.decrypt(parameters, cipherKey, ciphertext));
    } catch (error) {
      // Of any other error, such as too little memory, no key is the cause.
      if ((error as Error).name !== 'OperationError') throw error;
      cause = error;
    }
  }
  throw new WrongKeyError({ cause });
}

/**
 * PBinCLI encodes a password as UTF-8; PrivateBin's page takes the low byte of each UTF-16 unit. They differ
 * beyond ASCII.
 */
function bytesOfPassword(password: string): readonly Uint8Array[] {
  const utf8 = new TextEncoder().encode(password);
  if (utf8.length === password.length) return [utf8];
  return [utf8, Uint8Array.from(password, (_, i) => i).map((i) => password.charCodeAt(i))];
}

/** `{}`, with a key of zeros and one round. */
const SAMPLE: SealedPaste = {
  v: 2,
  adata: [['AAAAAAAAAAAAAAAAAAAAAA==', 'AAAAAAAAAAA=', 1, 256, 128, 'aes', 'gcm', 'zlib'], 'plaintext', 0, 0],
  ct: 'bkAs2j77lTfNJlE7BWunbUJnSEU=',
};

/**
 * Whether this browser can decrypt. Ask before a paste is revealed: the server then deletes it. Browsers have
 * no `crypto.subtle` on pages that were loaded by http, and old ones don't know `deflate-raw`.
 */
export async function canOpenSealed(): Promise<boolean> {
  return await openSealed(SAMPLE, new Uint8Array(32)).then(
    () => true,
    () => false,
  );
}
