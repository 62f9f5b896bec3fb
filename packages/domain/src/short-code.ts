/** Base62 in ASCII order, so that codes sort the same in Postgres (COLLATE "C"), in S3 listings and in JavaScript. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 62^10 = 8.4e17 codes: with a billion pastes a guess hits one in 8.4e8, and a new code collides as rarely. */
const SHORT_CODE_LENGTH = 10;

/** Codes of other lengths are accepted on reading, so that the default may change; the bound keeps absurd ones from the database. */
const SHORT_CODE_PATTERN = /^[0-9A-Za-z]{1,32}$/;

export function isShortCode(text: string): boolean {
  return SHORT_CODE_PATTERN.test(text);
}

/**
 * A short code from bytes of a CSPRNG, or null when too few of them were usable: bytes of 248 and more are passed over, since
 * 256 is no multiple of 62 and taking them modulo 62 would favour the first eight letters. 32 bytes all but always suffice.
 */
export function shortCodeFrom(randomBytes: Uint8Array, length = SHORT_CODE_LENGTH): string | null {
  let code = '';
  for (const byte of randomBytes) {
    if (byte >= 248) continue;
    code += ALPHABET[byte % 62];
    if (code.length === length) return code;
  }
  return null;
}
