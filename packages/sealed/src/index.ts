export { TooMuchContentError } from './deflate.ts';
export { textOfSealed, type SealedPaste } from './sealed-paste.ts';
export { type Attachment, type Message, messageOfFiles } from './message.ts';
export { canOpenSealed, MAX_MESSAGE_BYTES, openSealed, WrongKeyError } from './open-sealed.ts';
export { parseSealedText, SealedFormatError, toSealed } from './parse-sealed.ts';
export { seal } from './seal.ts';
export { fragmentOfKey, keyOfFragment, type SecretKey } from './keys.ts';
