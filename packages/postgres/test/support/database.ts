import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestPostgres,
  startTestPostgres,
  type SharedTestPostgres,
  type TestPostgres,
} from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import {
  createDatabase,
  createPaste,
  findRefusal,
  type CreatedPaste,
  type Database,
} from '../../src/index.ts';
import { pasteToCreate, removeRows } from '../../src/testing/index.ts';

export { pasteToCreate };

export function open(url: string, maxConnections = 20, statementTimeoutMs = 30_000): Database {
  return createDatabase({
    url,
    applicationName: 'test',
    maxConnections,
    statementTimeoutMs,
    connectTimeoutMs: 60_000,
    onConnectionError: () => {},
  });
}

/** For filling tables, which takes as long as it takes. */
export function openToFill(url: string): Database {
  return open(url, 4, 0);
}

interface CurrentDatabase<Stack> {
  readonly db: Database;
  readonly url: string;
  readonly stack: Stack;
}

/**
 * `rows`: each test begins without rows, in the database of the file. `database`: each test has a database of
 * its own, as those need that change tables. `file`: each test finds what those before it have left.
 */
interface Freshness {
  readonly fresh: 'rows' | 'database' | 'file';
}

/** Databases in the server that the files of this package share. */
export function useDatabase({ fresh }: Freshness = { fresh: 'rows' }): CurrentDatabase<SharedTestPostgres> {
  return useDatabaseOf(startSharedTestPostgres, fresh);
}

/**
 * Databases in a server of the file's own: for tests that change roles or settings, stop the server, or
 * depend on the transactions of other databases, as each snapshot does.
 */
export function useOwnServer({ fresh }: Freshness = { fresh: 'rows' }): CurrentDatabase<TestPostgres> {
  return useDatabaseOf(() => startTestPostgres(), fresh);
}

function useDatabaseOf<Stack extends SharedTestPostgres>(
  start: () => Promise<Stack>,
  fresh: Freshness['fresh'],
): CurrentDatabase<Stack> {
  const current = {} as { db: Database; url: string; stack: Stack };
  beforeAll(async () => {
    current.stack = await start();
  });
  beforeEach(async () => {
    if (fresh === 'file' && current.db !== undefined) return;
    if (fresh === 'rows' && current.db !== undefined) {
      await endTransactions(current.db);
      return await removeRows(current.db);
    }
    void current.db?.destroy(); // ends when a transaction that a failed test has left open ends, with the database
    const { url } = await createTestDatabase(current.stack);
    current.url = url;
    current.db = open(url);
  });
  afterAll(async () => {
    void current.db?.destroy();
    await current.stack?.stop();
  });
  return current;
}

/** Ends what a failed test has left open: its locks would stop the tests that follow. */
async function endTransactions(db: Database): Promise<void> {
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle'
      AND pid <> pg_backend_pid()`.execute(db);
}

export async function newPaste(db: Database, content = 'hello'): Promise<CreatedPaste> {
  const paste = pasteToCreate({ content: Buffer.from(content) });
  const created = await createPaste(db, paste);
  if (created === null) throw new Error(`not created: ${await findRefusal(db, paste)}`);
  return created;
}
