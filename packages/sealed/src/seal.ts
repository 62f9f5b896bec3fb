import { deriveKey, gcmOf, newSecretKey, type SecretKey, toBase64, fromBase64 } from './keys.ts';
import {
  textOfAuthenticatedData,
  type AuthenticatedData,
  type Formatter,
  type SealedPaste,
} from './sealed-paste.ts';
import { encodeMessage, type Message, decodeMessage } from './message.ts';

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

/** A few kilobytes of deflate can become gigabytes. */
export class TooMuchContentError extends Error {
  constructor(maxBytes: number) {
    super(`The decrypted content is larger than ${maxBytes} bytes.`);
    this.name = 'TooMuchContentError';
  }
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await collect(through(bytes, new CompressionStream('deflate-raw')), Infinity);
}

/** @throws TooMuchContentError; TypeError for bytes that are no deflate */
async function inflate(bytes: Uint8Array<ArrayBuffer>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  return await collect(through(bytes, new DecompressionStream('deflate-raw')), maxBytes);
}

function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> {
  return new Blob([bytes]).stream().pipeThrough(transform);
}

/** Stops at the bound: nothing behind it is decompressed. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw new TooMuchContentError(maxBytes);
    }
    chunks.push(read.value);
  }
  const whole = new Uint8Array(length);
  let filled = 0;
  for (const chunk of chunks) {
    whole.set(chunk, filled);
    filled += chunk.length;
  }
  return whole;
}
