import {
  compressions,
  formatters,
  keyBits,
  tagBits,
  textOfSealed,
  type AuthenticatedData,
  type CipherParameters,
  type SealedPaste,
} from './sealed-paste.ts';

/** A document that breaks a rule of the format. `path` names the value, for example `adata.0.2`. */
export class SealedFormatError extends Error {
  readonly path: string;
  /** The rule, worded as in "adata.0.2 must be …". */
  readonly rule: string;

  constructor(path: string, rule: string) {
    super(path === '' ? `The document ${rule}.` : `${path} ${rule}.`);
    this.name = 'SealedFormatError';
    this.path = path;
    this.rule = rule;
  }
}

/**
 * PrivateBin's server refuses 10,000 rounds and fewer. The upper bound is a bound on the reader's time: ten
 * million rounds take a phone about half a minute.
 */
const ITERATIONS = { above: 10_000, most: 10_000_000 };

/** Of base64, as PrivateBin's server bounds them: 16 bytes of IV and up to 9 bytes of salt. */
const MAX_IV_CHARACTERS = 24;
const MAX_SALT_CHARACTERS = 14;

/** No tag is shorter, so that no ciphertext is. */
const MIN_CIPHERTEXT_CHARACTERS = 12;

/**
 * Reads a stored document. Only the one text of each document is accepted: otherwise two readers could
 * understand a text with repeated fields differently.
 * @throws SealedFormatError
 */
export function parseSealedText(text: string): SealedPaste {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SealedFormatError('', 'must be JSON');
  }
  const document = toSealed(value);
  if (textOfSealed(document) !== text)
    throw new SealedFormatError('', 'must be compact JSON with the fields v, adata and ct in this order');
  return document;
}

/** Takes `v`, `adata` and `ct` from an object, and ignores its other fields. @throws SealedFormatError */
export function toSealed(value: unknown): SealedPaste {
  if (!isRecord(value)) throw new SealedFormatError('', 'must be a JSON object');
  const { v, adata, ct } = value;
  if (v !== 2) throw new SealedFormatError('v', 'must be 2');
  if (!isBase64(ct) || ct.length < MIN_CIPHERTEXT_CHARACTERS)
    throw new SealedFormatError('ct', 'must be base64 of a ciphertext with its tag');
  return { v, adata: toAuthenticatedData(adata), ct };
}

function toAuthenticatedData(value: unknown): AuthenticatedData {
  if (!Array.isArray(value) || value.length !== 4)
    throw new SealedFormatError(
      'adata',
      'must be a list of four: the cipher parameters, the formatter and two flags',
    );
  const [cipher, formatter, openDiscussion, burnAfterReading] = value as unknown[];
  return [
    toCipherParameters(cipher),
    oneOf('adata.1', formatters, formatter),
    oneOf('adata.2', [0, 1], openDiscussion),
    oneOf('adata.3', [0, 1], burnAfterReading),
  ];
}

function toCipherParameters(value: unknown): CipherParameters {
  if (!Array.isArray(value) || value.length !== 8)
    throw new SealedFormatError('adata.0', 'must be a list of eight cipher parameters');
  const [iv, salt, iterations, ...rest] = value as unknown[];
  return [
    base64Of('adata.0.0', iv, MAX_IV_CHARACTERS),
    base64Of('adata.0.1', salt, MAX_SALT_CHARACTERS),
    iterationsOf(iterations),
    oneOf('adata.0.3', keyBits, rest[0]),
    oneOf('adata.0.4', tagBits, rest[1]),
    oneOf('adata.0.5', ['aes'], rest[2]),
    oneOf('adata.0.6', ['gcm'], rest[3]),
    oneOf('adata.0.7', compressions, rest[4]),
  ];
}

function iterationsOf(value: unknown): number {
  const { above, most } = ITERATIONS;
  if (typeof value === 'number' && Number.isInteger(value) && value > above && value <= most) return value;
  throw new SealedFormatError('adata.0.2', `must be a whole number above ${above} and at most ${most}`);
}

function base64Of(path: string, value: unknown, maxCharacters: number): string {
  if (isBase64(value) && value.length > 0 && value.length <= maxCharacters) return value;
  throw new SealedFormatError(path, `must be base64 of at most ${maxCharacters} characters`);
}

function oneOf<const T>(path: string, values: readonly T[], value: unknown): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw new SealedFormatError(path, `must be one of ${values.join(', ')}`);
  return found;
}

function isBase64(value: unknown): value is string {
  return typeof value === 'string' && value.length % 4 === 0 && /^[\d+/A-Za-z]*={0,2}$/.test(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
