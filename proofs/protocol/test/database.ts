import { afterAll, beforeAll } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestPostgres,
  type SharedTestPostgres,
} from '@pasteflow/dev-stack/testing';
import { createDatabase, type Database } from '@pasteflow/postgres';

/** A database of the file's own, in the server that the files of this package share. */
export function useDatabase(): { readonly db: Database } {
  const current = {} as { db: Database; stack: SharedTestPostgres };
  beforeAll(async () => {
    current.stack = await startSharedTestPostgres();
    const { url } = await createTestDatabase(current.stack);
    current.db = createDatabase({
      url,
      applicationName: 'test',
      maxConnections: 20,
      statementTimeoutMs: 30_000,
      onConnectionError: () => {},
    });
  });
  afterAll(async () => {
    void current.db?.destroy();
    await current.stack?.stop();
  });
  return current;
}
