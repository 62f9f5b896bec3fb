import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import {
  createTestDatabase,
  FaultProxy,
  startSharedTestStack,
  type SharedTestStack,
} from '@pasteflow/dev-stack/testing';
import { createDatabase, type Database } from '@pasteflow/postgres';
import { createObjectStore, type ObjectStore } from '@pasteflow/s3';
import { sql } from 'kysely';

process.env.AWS_ACCESS_KEY_ID = 'pasteflow';
process.env.AWS_SECRET_ACCESS_KEY = 'pasteflow';

/** The services of jobs: a real Postgres, and S3 behind a proxy that counts requests and injects faults. */
export interface World {
  readonly proxy: FaultProxy;
  readonly databaseUrl: string;
  readonly db: Database;
  readonly store: ObjectStore;
}

/**
 * One for the test file. Before each test its tables and bucket are empty, and the proxy has no rules and no
 * recorded requests.
 */
export function useWorld(): World {
  const world = {} as { -readonly [Key in keyof World]: World[Key] };
  let stack: SharedTestStack;
  beforeAll(async () => {
    stack = await startSharedTestStack();
    world.proxy = await FaultProxy.start(stack.aws.endpoint);
    world.databaseUrl = (await createTestDatabase(stack)).url;
    world.db = connect(world.databaseUrl);
    // A request that a test holds must not be given up, and sent again, on a busy machine.
    world.store = openStore(world, 60_000);
  });
  beforeEach(async () => {
    world.proxy.clear();
    await sql`TRUNCATE users, jobs, assets, pastes, paste_payloads, task_executions, stored_usage CASCADE`.execute(
      world.db,
    );
    for await (const page of world.store.list('')) await world.store.deleteMany(page.map(({ key }) => key));
    for (const upload of await openUploads(world.store)) await world.store.abortMultipartUpload(upload);
    world.proxy.requests.length = 0;
  });
  afterAll(async () => {
    await world.db?.destroy();
    world.store?.close();
    await world.proxy?.stop();
    await stack?.stop();
  });
  return world;
}

export function openStore({ proxy }: Pick<World, 'proxy'>, requestTimeoutMs: number): ObjectStore {
  return createObjectStore({
    region: 'us-east-1',
    endpoint: proxy.url,
    bucket: 'pasteflow',
    maxAttempts: 3,
    requestTimeoutMs,
  });
}

function connect(url: string): Database {
  return createDatabase({
    url,
    applicationName: 'jobs-test',
    maxConnections: 10,
    connectTimeoutMs: 60_000,
    onConnectionError: () => {},
  });
}

export async function openUploads(store: ObjectStore): Promise<{ key: string; uploadId: string }[]> {
  const uploads = [];
  for await (const page of store.listMultipartUploads('')) uploads.push(...page);
  return uploads;
}

export async function keysIn(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.list(prefix)) keys.push(...page.map(({ key }) => key));
  return keys;
}
