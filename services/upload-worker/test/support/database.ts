import { createTestDatabase, type TestStack } from '@pasteflow/dev-stack/testing';
import { createDatabase, migrate, type Database } from '@pasteflow/postgres';

export function openDatabase(url: string): Database {
  return createDatabase({ url, applicationName: 'test', maxConnections: 4, onConnectionError: () => {} });
}

/** The URL of a migrated database of the caller's own. */
export async function migratedDatabase(stack: TestStack): Promise<string> {
  const { url } = await createTestDatabase(stack, async (template) => {
    const db = openDatabase(template);
    await migrate(db);
    await db.destroy();
  });
  return url;
}
