import { oneOf, positiveInteger, url } from '@pasteflow/runtime';
import { z } from 'zod';

export interface DatabaseConfig {
  readonly url: string;
  /** The maximum number of connections that one process opens. */
  readonly poolSize: number;
  /** Whether connections keep the hot statements and their plans. */
  readonly preparedStatements: boolean;
}

export const databaseEnv: z.ZodType<DatabaseConfig> = z
  .object({
    DATABASE_URL: url(['postgres:', 'postgresql:'], 'postgres://user:password@127.0.0.1:5432/pasteflow'),
    DATABASE_POOL_SIZE: positiveInteger().default(10),
    PREPARED_STATEMENTS: oneOf(['on', 'off']).default('on'),
  })
  .transform((env) => ({
    url: env.DATABASE_URL,
    poolSize: env.DATABASE_POOL_SIZE,
    preparedStatements: env.PREPARED_STATEMENTS === 'on',
  }));
