import { z } from 'zod';

/** The name of the bucket that holds the objects. */
export const bucketEnv: z.ZodType<string> = z
  .object({
    S3_BUCKET: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'is not a bucket name; set it to 3 to 63 lower-case letters, digits, dots and hyphens',
      )
      .default('pasteflow'),
  })
  .transform((env) => env.S3_BUCKET);
