export { textOfSealed, type SealedPaste } from './sealed-paste.ts';
export { type Attachment, type Message, messageOfFiles } from './message.ts';
export { parseSealedText, SealedFormatError, toSealed } from './parse-sealed.ts';
export {
  seal,
  canOpenSealed,
  MAX_MESSAGE_BYTES,
  openSealed,
  WrongKeyError,
  TooMuchContentError,
} from './seal.ts';
export { fragmentOfKey, keyOfFragment, type SecretKey } from './keys.ts';
