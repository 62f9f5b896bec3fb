export { textOfSealed, type SealedDocument } from './document.ts';
export type { Message } from './message.ts';
export { openSealed } from './open-sealed.ts';
export { parseSealedText, SealedFormatError, toSealed } from './parse-sealed.ts';
export { seal } from './seal.ts';
export { fragmentOfKey, keyOfFragment, type SecretKey } from './secret-key.ts';
