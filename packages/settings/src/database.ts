import { positiveInteger, url } from '@pasteflow/runtime';
import { z } from 'zod';

export interface DatabaseConfig {
  readonly url: string;
  /** The maximum number of connections that one process opens. */
  readonly poolSize: number;
}

export const databaseEnv: z.ZodType<DatabaseConfig> = z
  .object({
    DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgres://user:password@127.0.0.1:5432/pasteflow'),
    DATABASE_POOL_SIZE: positiveInteger().default(10),
  })
  .transform((env) => ({ url: env.DATABASE_URL, poolSize: env.DATABASE_POOL_SIZE }));
