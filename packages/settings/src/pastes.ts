import { DEFAULT_MAX_PASTE_BYTES } from '@pasteflow/domain';
import { positiveInteger } from '@pasteflow/runtime';
import { z } from 'zod';

/**
 * A JSON string needs up to six characters for a byte, and the longest string of V8 has 2^29 - 24 characters.
 */
const LARGEST_MAX_PASTE_BYTES = 64 * 1024 * 1024;

/** The maximum size of a paste's content in bytes, for requests and for jobs. */
export const maxPasteBytesEnv: z.ZodType<number> = z
  .object({
    MAX_PASTE_BYTES: positiveInteger()
      .pipe(
        z.number().max(LARGEST_MAX_PASTE_BYTES, `is too large; set it to at most ${LARGEST_MAX_PASTE_BYTES}`),
      )
      .default(DEFAULT_MAX_PASTE_BYTES),
  })
  .transform((env) => env.MAX_PASTE_BYTES);
