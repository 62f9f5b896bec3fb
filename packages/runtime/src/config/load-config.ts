import { z } from 'zod';

/**
 * The environment is wrong. The message lists every problem on a line of its own, and is printed without a
 * stack.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super([`The configuration has ${count}:`, ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a typed config from the environment. White space around a value is dropped, and an empty value counts
 * as unset.
 * @throws ConfigError naming every variable that is missing or wrong, and what to set
 */
export function loadConfig<T>(schema: z.ZodType<T>, env: Environment): T {
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || value.trim() === '' ? [] : [[name, value.trim()] as const],
  );
  const result = schema.safeParse(Object.fromEntries(set));
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
  throw new ConfigError([...new Set(problems)]);
}

/** The setting of this name, for `groups`. */
export function setting<T>(name: string, schema: z.ZodType<T>): z.ZodType<T> {
  return z.object({ [name]: schema }).transform((env) => env[name] as T);
}

/**
 * Combines groups, each of which reads its own variables, into one schema: `groups({ database: databaseEnv,
 * aws: awsEnv })` gives `{ database, aws }`. Problems of all groups are reported together.
 */
export function groups<Groups extends Record<string, z.ZodType>>(
  schemas: Groups,
): z.ZodType<{ [Name in keyof Groups]: z.output<Groups[Name]> }> {
  return z.unknown().transform((env, context) => {
    const config: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(schemas)) {
      const result = schema.safeParse(env);
      if (result.success) config[name] = result.data;
      else
        for (const { path, message } of result.error.issues)
          context.addIssue({ code: 'custom', path, message });
    }
    return config as { [Name in keyof Groups]: z.output<Groups[Name]> };
  });
}
