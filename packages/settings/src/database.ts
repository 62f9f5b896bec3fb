import { databaseUrlProblem, durabilitySettings, type DurabilitySetting } from '@pasteflow/postgres';
import { listOf, oneOf, positiveInteger } from '@pasteflow/runtime';
import { z } from 'zod';

export interface DatabaseConfig {
  readonly url: string;
  /** The maximum number of connections that one process opens. */
  readonly poolSize: number;
  /** Whether connections keep the hot statements and their plans. */
  readonly preparedStatements: boolean;
  /** The settings of Postgres that may be unsafe: without them it can lose pastes that were answered 201. */
  readonly mayLoseDataBy: readonly DurabilitySetting[];
}

const databaseUrl = z
  .string({ error: 'is missing; set it to a URL like postgres://user:password@127.0.0.1:5432/pasteflow' })
  .superRefine((url, context) => {
    const problem = databaseUrlProblem(url);
    if (problem !== null) context.addIssue(problem);
  });

export const databaseEnv: z.ZodType<DatabaseConfig> = z
  .object({
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: positiveInteger().default(10),
    PREPARED_STATEMENTS: oneOf(['on', 'off']).default('on'),
    ALLOW_POSTGRES_TO_LOSE_DATA: listOf(durabilitySettings).default([]),
  })
  .transform((env) => ({
    url: env.DATABASE_URL,
    poolSize: env.DATABASE_POOL_SIZE,
    preparedStatements: env.PREPARED_STATEMENTS === 'on',
    mayLoseDataBy: env.ALLOW_POSTGRES_TO_LOSE_DATA,
  }));
