import { base58 } from '@scure/base';
import type { CipherParameters } from './sealed-paste.ts';

/** Characters for each call of String.fromCharCode, whose arguments go on the stack. */
const CHUNK = 0x2000;

export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK)
    parts.push(String.fromCharCode(...bytes.subarray(start, start + CHUNK)));
  return btoa(parts.join(''));
}

/** @throws Error for a text that is no base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** 256 random bits, which go into the link after `#` and nowhere else. */
export type SecretKey = Uint8Array<ArrayBuffer>;

const KEY_BYTES = 32;
/**
 * Fewer are no key, but for example `L12` for a line. More than three zero bytes at the start are lost once
 * in four billion keys.
 */
const MIN_KEY_BYTES = 29;
/** 32 bytes are 43 or 44 characters; decoding takes time that grows with the square of the length. */
const MAX_CHARACTERS = 64;

export function newSecretKey(): SecretKey {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** Base58, as PrivateBin writes it. */
export function fragmentOfKey(key: SecretKey): string {
  return base58.encode(key);
}

/**
 * Reads the key from the part of a link after `#`, with or without the `#`. PrivateBin writes `-` in front of
 * the key of a paste that is burned after reading; some services append `&` and parameters of their own; old
 * encoders drop zero bytes at the start of a key.
 * @returns null when the text is no key
 */
export function keyOfFragment(fragment: string): SecretKey | null {
  const [text = ''] = fragment.replace(/^#?-?/, '').split('&', 1);
  if (text === '' || text.length > MAX_CHARACTERS) return null;
  try {
    const bytes = base58.decode(text);
    if (bytes.length < MIN_KEY_BYTES || bytes.length > KEY_BYTES) return null;
    const key = new Uint8Array(KEY_BYTES);
    key.set(bytes, KEY_BYTES - bytes.length);
    return key;
  } catch {
    return null;
  }
}

/**
 * The key of the cipher: PBKDF2 with HMAC-SHA-256 over the secret key, followed by the bytes of the password.
 * The types of WebCrypto have other names in Node than in browsers: they are left to be inferred.
 */
export async function deriveKey(
  secret: SecretKey,
  password: Uint8Array,
  [, salt, iterations, keyBits]: CipherParameters,
) {
  const material = new Uint8Array(secret.length + password.length);
  material.set(secret);
  material.set(password, secret.length);
  const imported = await crypto.subtle.importKey('raw', material, 'PBKDF2', false, ['deriveKey']);
  return await crypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt: fromBase64(salt), iterations },
    imported,
    { name: 'AES-GCM', length: keyBits },
    false,
    ['encrypt', 'decrypt'],
  );
}

/** What encryption and decryption share: the IV, the authenticated data and the length of the tag. */
export function gcmOf([iv, , , , tagLength]: CipherParameters, authenticated: string) {
  return {
    name: 'AES-GCM',
    iv: fromBase64(iv),
    additionalData: new TextEncoder().encode(authenticated),
    tagLength,
  };
}
