import type { Postgres } from '../postgres/start-postgres.ts';

/** The Postgres that scripts/shared-postgres.mjs has started for the test files of a package. */
export function sharedPostgres(): Pick<Postgres, 'url' | 'port'> | undefined {
  // oxlint-disable-next-line node/no-process-env -- how jest's global setup passes a value to the test files
  const url = process.env.TEST_SHARED_POSTGRES;
  return url === undefined ? undefined : { url, port: Number(new URL(url).port) };
}
