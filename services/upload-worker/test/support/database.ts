import { createDatabase, type Database } from '@pasteflow/postgres';

export function openDatabase(url: string): Database {
  return createDatabase({
    url,
    applicationName: 'test',
    maxConnections: 4,
    connectTimeoutMs: 60_000,
    onConnectionError: () => {},
  });
}
