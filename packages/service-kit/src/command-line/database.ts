import { createDatabase, type Database } from '@pasteflow/postgres';
import { loadConfig, type Environment } from '@pasteflow/runtime';
import { databaseEnv } from '../settings.ts';

/** A command asks one thing after the other; the second connection serves what it asks side by side. */
const MAX_CONNECTIONS = 2;

/**
 * Opens the database that `DATABASE_URL` names for as long as `run` takes. Postgres shows the connection as
 * `pasteflow-NAME`.
 * @throws ConfigError when DATABASE_URL is missing or wrong
 */
export async function withDatabase<T>(
  name: string,
  env: Environment,
  run: (db: Database) => Promise<T>,
): Promise<T> {
  const { url } = loadConfig(databaseEnv, env);
  const db = createDatabase({
    url,
    applicationName: `pasteflow-${name}`,
    maxConnections: MAX_CONNECTIONS,
    preparedStatements: false, // a command executes a statement once or twice
    onConnectionError: () => {}, // the statement that fails reports it
  });
  try {
    return await run(db);
  } finally {
    await db.destroy();
  }
}
