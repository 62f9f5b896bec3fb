import { randomBytes } from 'node:crypto';
import { shortCodeFrom } from '@pasteflow/domain';

/** Generates a short code that is probably unused. */
export type ShortCodes = () => string;

/**
 * With a billion pastes, one generated code in 8.4e8 is already taken. Five in a row mean that something else
 * is wrong.
 */
export const MAX_SHORT_CODE_TRIES = 5;

/** Uses the CSPRNG of the operating system, so that a short code reveals nothing about others. */
export const randomShortCode: ShortCodes = () => {
  for (;;) {
    const code = shortCodeFrom(randomBytes(32));
    if (code !== null) return code;
  }
};
