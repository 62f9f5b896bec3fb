/**
 * What the server keeps of an encrypted paste: format v2 of PrivateBin
 * (https://github.com/PrivateBin/PrivateBin/wiki/Encryption-format). `ct` is the ciphertext with its tag in
 * base64. `adata` is readable by everybody, and authenticated: a reader who gets another `adata` than the
 * writer made can't decrypt.
 */
export interface SealedPaste {
  readonly v: 2;
  readonly adata: AuthenticatedData;
  readonly ct: string;
}

export type AuthenticatedData = readonly [
  cipher: CipherParameters,
  formatter: Formatter,
  /** 1: readers may comment. No paste of this service has comments. */
  openDiscussion: 0 | 1,
  burnAfterReading: 0 | 1,
];

/** `iv` and `salt` are base64. */
export type CipherParameters = readonly [
  iv: string,
  salt: string,
  iterations: number,
  keyBits: (typeof keyBits)[number],
  tagBits: (typeof tagBits)[number],
  algorithm: 'aes',
  mode: 'gcm',
  compression: (typeof compressions)[number],
];

export type Formatter = (typeof formatters)[number];

export const formatters = ['plaintext', 'syntaxhighlighting', 'markdown'] as const;
export const keyBits = [128, 192, 256] as const;
export const tagBits = [64, 96, 128] as const;
export const compressions = ['zlib', 'none'] as const;

/** The JSON of a document as it is stored: without white space, its fields in this order. */
export function textOfSealed({ v, adata, ct }: SealedPaste): string {
  return JSON.stringify({ v, adata, ct });
}

/**
 * What the tag authenticates. All clients of the format write `adata` so, whatever the JSON of their request
 * looks like.
 */
export function textOfAuthenticatedData(adata: AuthenticatedData): string {
  return JSON.stringify(adata);
}
