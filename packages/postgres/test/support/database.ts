import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import {
  createDatabase,
  createPaste,
  type CreatedPaste,
  type Database,
  type NewPaste,
} from '../../src/index.ts';

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

/** A private server for the test file, with a database of its own for each test, or one for the whole file. */
export function useDatabase({ fresh }: { fresh: 'test' | 'file' } = { fresh: 'test' }): {
  readonly db: Database;
  readonly url: string;
  readonly stack: TestStack;
} {
  const current = {} as { db: Database; url: string; stack: TestStack };
  beforeAll(async () => {
    current.stack = await startTestStack();
  });
  beforeEach(async () => {
    if (fresh === 'file' && current.db !== undefined) return;
    void current.db?.destroy(); // ends when a transaction that a failed test has left open ends, with the server
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

export async function newPaste(
  db: Database,
  content = 'hello',
): Promise<CreatedPaste & { shortCode: string }> {
  const paste = pasteToCreate({ content: Buffer.from(content) });
  const created = await createPaste(db, paste);
  if (created === null) throw new Error('the short code was taken');
  return { ...created, shortCode: paste.shortCode };
}

/** An anonymous paste with a new short code. */
export function pasteToCreate(options: Partial<NewPaste> = {}): NewPaste {
  const { content = randomBytes(20) } = options;
  return {
    shortCode: randomBytes(5).toString('hex'),
    content,
    contentHash: `sha256:${createHash('sha256').update(content).digest('hex')}`,
    title: null,
    syntax: null,
    userId: null,
    visibility: 'unlisted',
    expiresInSeconds: 3600,
    deleteTokenHash: null,
    ...options,
  };
}
