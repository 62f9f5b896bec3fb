import { ConfigError, loadConfig, readStackFile, type Environment } from '@pasteflow/runtime';
import { databaseEnv } from '@pasteflow/settings';

export interface FoundDatabase {
  readonly url: string;
  /** The file that named it; null: the environment did. */
  readonly file: string | null;
}

/**
 * DATABASE_URL, or else that of the embedded Postgres that `npm start` or `npm run stack` runs: they write it into the data folder for as
 * long as they run.
 * @throws ConfigError that says what to do
 */
export function findDatabase(env: Environment): FoundDatabase {
  if (isSet(env.DATABASE_URL)) return { url: loadConfig(databaseEnv, env).url, file: null };
  const { path: file, environment: written } = readStackFile(env);
  if (written === null) {
    throw new ConfigError([
      `DATABASE_URL is not set, and no embedded Postgres is running (there is no ${file}): start one with \`npm start\` in another ` +
        'terminal, or set DATABASE_URL to a URL like postgres://user:password@127.0.0.1:5432/pasteflow',
    ]);
  }
  if (!isSet(written.DATABASE_URL)) {
    throw new ConfigError([
      `DATABASE_URL is not set, and the stack that is running has a Postgres of yours (${file} names none): set DATABASE_URL as you did for it`,
    ]);
  }
  return { url: loadConfig(databaseEnv, { DATABASE_URL: written.DATABASE_URL }).url, file };
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value.trim() !== '';
}
