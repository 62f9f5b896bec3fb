import { parseSealedText, SealedFormatError } from '@pasteflow/sealed';
import type { PasteOptions } from './paste-fields.ts';

/** A field of a new paste that breaks a rule. */
export interface PasteFieldError {
  readonly path: string;
  readonly message: string;
}

/**
 * The rules of a new encrypted paste. Its title and its language belong into the ciphertext: as fields, the server would know them. The
 * content must be a document that its readers can take apart; whether it can be decrypted, only they find out.
 */
export function encryptionErrors({
  encrypted,
  title,
  syntax,
  content,
}: Pick<PasteOptions, 'encrypted' | 'title' | 'syntax'> & {
  readonly content: Buffer;
}): readonly PasteFieldError[] {
  if (encrypted !== true) return [];
  return [
    ...(title === null ? [] : [{ path: 'title', message: READABLE }]),
    ...(syntax === null ? [] : [{ path: 'syntax', message: READABLE }]),
    ...formatErrors(content),
  ];
}

const READABLE = 'must be empty for an encrypted paste, because the server could read it';

function formatErrors(content: Buffer): readonly PasteFieldError[] {
  try {
    const document = parseSealedText(content.toString('latin1')); // it is ASCII, or it is refused
    if (document.adata[2] === 0) return [];
    return [{ path: 'content.adata.2', message: 'must be 0: this service has no discussions' }];
  } catch (error) {
    if (!(error instanceof SealedFormatError)) throw error;
    const { path, rule } = error;
    return [{ path: path === '' ? 'content' : `content.${path}`, message: rule }];
  }
}
