import { createDatabase, type Database } from '@pasteflow/postgres';
import { loadConfig, type Environment } from '@pasteflow/runtime';
import { databaseEnv } from '../settings.ts';

/** A command asks one thing after the other; the second connection serves what it asks side by side. */
const MAX_CONNECTIONS = 2;

/**
 * The database that `DATABASE_URL` names. Postgres shows the connection as `pasteflow-NAME`.
 * @throws ConfigError when DATABASE_URL is missing or wrong
 */
export function commandDatabase(name: string, env: Environment): Database {
  const { url } = loadConfig(databaseEnv, env);
  return createDatabase({
    url,
    applicationName: `pasteflow-${name}`,
    maxConnections: MAX_CONNECTIONS,
    preparedStatements: false, // a command executes a statement once or twice
    onConnectionError: () => {}, // the statement that fails reports it
  });
}

/** Opens it for as long as `run` takes. @throws as commandDatabase */
export async function withDatabase<T>(
  name: string,
  env: Environment,
  run: (db: Database) => Promise<T>,
): Promise<T> {
  const db = commandDatabase(name, env);
  try {
    return await run(db);
  } finally {
    await db.destroy();
  }
}
