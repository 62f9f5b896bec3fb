import { z } from 'zod';
import { oneOf } from '../config/variables.ts';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;
type LogLevel = (typeof logLevels)[number];

export interface LogConfig {
  readonly level: LogLevel;
  /** `json`: one object a line, for programs. `pretty`: for people at a terminal. */
  readonly format: 'json' | 'pretty';
}

/** Default format: `pretty` when stderr, where the log goes, is a terminal. */
export const logEnv: z.ZodType<LogConfig> = z
  .object({
    LOG_LEVEL: oneOf(logLevels).default('info'),
    LOG_FORMAT: oneOf(['json', 'pretty']).optional(),
    NODE_ENV: z.string().optional(),
  })
  .transform((env) => {
    const forPeople = process.stderr.isTTY && env.NODE_ENV !== 'production';
    return { level: env.LOG_LEVEL, format: env.LOG_FORMAT ?? (forPeople ? 'pretty' : 'json') };
  });
