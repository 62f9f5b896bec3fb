import { seconds } from '@pasteflow/runtime';
import { z } from 'zod';

/**
 * How long the answer to a request with an Idempotency-Key is kept. The api replays it until then; the
 * janitor removes it afterwards.
 */
export const idempotencyRetentionEnv: z.ZodType<number> = z
  .object({ IDEMPOTENCY_RETENTION_SECONDS: seconds().default(86_400) })
  .transform((env) => env.IDEMPOTENCY_RETENTION_SECONDS);
