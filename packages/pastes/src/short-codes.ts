import { randomBytes } from 'node:crypto';
import { shortCodeFrom } from '@pasteflow/domain';

/** Makes a short code that is probably free. */
export type ShortCodes = () => string;

/** From the operating system's CSPRNG, so that the code of one paste tells nothing of another's. */
export const randomShortCode: ShortCodes = () => {
  for (;;) {
    const code = shortCodeFrom(randomBytes(32));
    if (code !== null) return code;
  }
};
