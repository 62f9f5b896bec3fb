export { canRead } from './can-read.ts';
export { contentHashOf } from './content-hash.ts';
export { encryptionErrors } from './encryption-errors.ts';
export { mustBeOneOf } from './field-rules.ts';
export {
  expiresInField,
  jsonPaste,
  textOptions,
  toOptions,
  visibilityField,
  type PasteOptions,
} from './paste-fields.ts';
export { MAX_SHORT_CODE_TRIES, randomShortCode, type ShortCodes } from './short-codes.ts';
