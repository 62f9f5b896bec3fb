import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { ConfigError, type Environment } from './load-config.ts';

export interface StackFile {
  readonly path: string;
  /** Where the embedded stack is; null: none is running, or it is all of the operator's own. */
  readonly environment: Environment | null;
}

const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * `npm start` and `npm run stack` write where their embedded Postgres, S3 and SQS are into the data folder, for as long as they run.
 * @throws ConfigError when the file is there and can't be read
 */
export function readStackFile(env: Environment): StackFile {
  const path = join(resolve(REPOSITORY, env.PASTEFLOW_DATA_DIR?.trim() || '.pasteflow'), 'stack.env');
  try {
    return { path, environment: parseEnv(readFileSync(path, 'utf8')) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { path, environment: null };
    throw new ConfigError([`${path} can't be read (${(error as Error).message}): set DATABASE_URL instead`]);
  }
}
