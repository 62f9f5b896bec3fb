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
  burn,
  content,
}: Pick<PasteOptions, 'encrypted' | 'title' | 'syntax' | 'burn'> & {
  readonly content: Buffer;
}): readonly PasteFieldError[] {
  if (encrypted !== true) return [];
  return [
    ...(title === null ? [] : [{ path: 'title', message: READABLE }]),
    ...(syntax === null ? [] : [{ path: 'syntax', message: READABLE }]),
    ...formatErrors(content, burn === true),
  ];
}

const READABLE = 'must be empty for an encrypted paste, because the server could read it';

function formatErrors(content: Buffer, burn: boolean): readonly PasteFieldError[] {
  try {
    const document = parseSealedText(content.toString('latin1')); // it is ASCII, or it is refused
    const [, , discussion, burnsWhenRead] = document.adata;
    return [
      ...(discussion === 0
        ? []
        : [{ path: 'content.adata.2', message: 'must be 0: this service has no discussions' }]),
      ...(burnsWhenRead === 0 || burn
        ? []
        : [{ path: 'burn', message: 'must be true, because content.adata.3 promises that to the reader' }]),
    ];
  } catch (error) {
    if (!(error instanceof SealedFormatError)) throw error;
    const { path, rule } = error;
    return [{ path: path === '' ? 'content' : `content.${path}`, message: rule }];
  }
}
