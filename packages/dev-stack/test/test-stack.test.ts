import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import {
  createTestDatabase,
  startSharedTestStack,
  startTestPostgres,
  TcpProxy,
  type TestPostgres,
} from '../src/testing/index.ts';
import { query } from './query.ts';

let stack: TestPostgres;
beforeAll(async () => {
  stack = await startTestPostgres();
});
afterAll(() => stack.stop());

describe('createTestDatabase', () => {
  it('gives every caller a migrated database of its own', async () => {
    const [one, other] = await Promise.all([createTestDatabase(stack), createTestDatabase(stack)]);
    await query(one.url, "INSERT INTO users (name) VALUES ('one')");
    expect(await query(one.url, 'SELECT name FROM users')).toEqual([{ name: 'one' }]);
    expect(await query(other.url, 'SELECT name FROM users')).toEqual([]);
  });

  it('gives an empty database to a caller that wants to migrate it', async () => {
    const { url } = await createTestDatabase(stack, { migrated: false });
    await expect(query(url, 'SELECT name FROM users')).rejects.toMatchObject({ code: '42P01' });
  });

  it('drops a database that still has a connection', async () => {
    const database = await createTestDatabase(stack);
    const client = new Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    await database.drop();
    await expect(query(database.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  });
});

describe('startTestPostgres', () => {
  it('restarts Postgres on the same port with its rows', async () => {
    const database = await createTestDatabase(stack);
    await query(database.url, "INSERT INTO users (name) VALUES ('two')");
    const { port, pid } = stack.postgres;
    await stack.restartPostgres(async () => {
      await expect(query(database.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    });
    expect(stack.postgres.port).toBe(port);
    expect(stack.postgres.pid).not.toBe(pid);
    expect(await query(database.url, 'SELECT name FROM users')).toEqual([{ name: 'two' }]);
  });
});

describe('startSharedTestStack', () => {
  afterEach(() => {
    delete process.env['TEST_SHARED_POSTGRES'];
  });

  it('uses the shared Postgres, drops its own databases at its end, and leaves those of others', async () => {
    process.env['TEST_SHARED_POSTGRES'] = stack.postgres.url;
    const [one, other] = await Promise.all([startSharedTestStack(), startSharedTestStack()]);
    const [ofOne, ofOther] = [await createTestDatabase(one), await createTestDatabase(other)];
    expect([one.postgres, other.postgres]).toMatchObject([
      { port: stack.postgres.port },
      { port: stack.postgres.port },
    ]);
    expect(one.aws.port).not.toBe(other.aws.port);
    await one.stop();
    await expect(query(ofOne.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
    expect(await query(ofOther.url, 'SELECT count(*)::int FROM users')).toEqual([{ count: 0 }]);
    await other.stop();
  });

  it('starts a Postgres of its own where none is shared', async () => {
    const own = await startSharedTestStack();
    expect(own.postgres.port).not.toBe(stack.postgres.port);
    await own.stop();
    await expect(query(own.postgres.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('TcpProxy', () => {
  it('makes Postgres unreachable, and reachable again', async () => {
    const proxy = await TcpProxy.start(stack.postgres.port);
    const url = proxy.through(stack.postgres.url);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await proxy.down();
    await expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.up();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await proxy.stop();
  });
});
