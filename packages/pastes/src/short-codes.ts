import { randomBytes } from 'node:crypto';
import { shortCodeFrom } from '@pasteflow/domain';

/** Makes a short code that is probably free. */
export type ShortCodes = () => string;

/** With a billion pastes a code is taken once in 8.4e8 times: five in a row mean that something else is wrong. */
export const MAX_SHORT_CODE_TRIES = 5;

/** From the operating system's CSPRNG, so that the code of one paste tells nothing of another's. */
export const randomShortCode: ShortCodes = () => {
  for (;;) {
    const code = shortCodeFrom(randomBytes(32));
    if (code !== null) return code;
  }
};
