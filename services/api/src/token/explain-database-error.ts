import { DependencyUnavailableError } from '@pasteflow/domain';
import type { Environment } from '@pasteflow/runtime';

/** SQLSTATE undefined_table. */
const NO_TABLE = '42P01';

/** An error of the command's only connection, with what to do about it. Other errors are returned as they are. */
export function explainDatabaseError(error: unknown, env: Environment): unknown {
  if (!Error.isError(error)) return error;
  if ((error as { code?: string }).code === NO_TABLE)
    return new Error(
      'The database has no table of tokens: run `npm run migrate` first (`npm start` runs it itself).',
      { cause: error },
    );
  if (!(error instanceof DependencyUnavailableError)) return error;
  const host = URL.parse(env.DATABASE_URL ?? '')?.host ?? '';
  const at = host === '' ? '' : ` at ${host}`; // a socket has none
  const { message = '', code = '' } = (error.cause ?? {}) as { message?: string; code?: string };
  return new Error(`Postgres${at} does not answer (${message || code}): check DATABASE_URL`, {
    cause: error,
  });
}
