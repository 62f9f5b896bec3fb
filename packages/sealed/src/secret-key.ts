import { base58 } from '@scure/base';

/** 256 random bits, which go into the link after `#` and nowhere else. */
export type SecretKey = Uint8Array<ArrayBuffer>;

const KEY_BYTES = 32;
/** Fewer are no key, but for example `L12` for a line. More than three zero bytes at the start are lost once in four billion keys. */
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
 * Reads the key from the part of a link after `#`, with or without the `#`. PrivateBin writes `-` in front of the key of a paste that is
 * burned after reading; some services append `&` and parameters of their own; old encoders drop zero bytes at the start of a key.
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
