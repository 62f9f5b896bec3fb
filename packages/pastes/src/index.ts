export { contentHashOf } from './content-hash.ts';
export {
  expiresInField,
  jsonPaste,
  textOptions,
  toOptions,
  visibilityField,
  type PasteOptions,
} from './paste-fields.ts';
export { randomShortCode, type ShortCodes } from './short-codes.ts';
