/**
 * Base62 in ASCII order, so that codes sort alike in Postgres (COLLATE "C"), in S3 listings and in
 * JavaScript.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * 62^10 = 8.4e17 codes: with a billion pastes, one guess in 8.4e8 hits a paste, and new codes collide as
 * rarely.
 */
const SHORT_CODE_LENGTH = 10;

/**
 * Reads accept codes of other lengths, so that the default may change. The bound keeps oversized text from
 * the database.
 */
const SHORT_CODE_PATTERN = /^[0-9A-Za-z]{1,32}$/;

export function isShortCode(text: string): boolean {
  return SHORT_CODE_PATTERN.test(text);
}

/**
 * Makes a short code from random bytes of a CSPRNG. Bytes of 248 and above are skipped: 256 is not a multiple
 * of 62, and the remainder modulo 62 would favor the first eight letters. 32 bytes nearly always suffice.
 * @returns null when too few bytes were usable
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

/** 131 bits: the link of a request for secrets is all that a depositor has, and nobody may guess one. */
export const REQUEST_CODE_LENGTH = 22;

const REQUEST_CODE_PATTERN = new RegExp(`^[0-9A-Za-z]{${REQUEST_CODE_LENGTH}}$`);

export function isRequestCode(text: string): boolean {
  return REQUEST_CODE_PATTERN.test(text);
}

/**
 * A slug as a regular expression: 3 to 64 characters. A hyphen is neither the first nor the last one: command
 * lines take a word with a leading hyphen for an option, and programs that make links of texts leave a
 * trailing one out.
 */
export const SLUG = '[a-z0-9][a-z0-9-]{1,62}[a-z0-9]';

/** The rule in words. */
export const SLUG_RULE =
  "must have 3 to 64 characters, each of them a lower-case letter from a to z, a digit or a hyphen; the first and the last one can't be a hyphen";

/** A name in a URL or a command is a slug when it begins with this character. No short code has it. */
export const SLUG_MARK = '~';

const WHOLE_SLUG = new RegExp(`^${SLUG}$`);

export function isSlug(text: string): boolean {
  return WHOLE_SLUG.test(text);
}

const UUID_PATTERN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in lower case, as Postgres writes it. */
export function isUuid(text: string): boolean {
  return UUID_PATTERN.test(text);
}
