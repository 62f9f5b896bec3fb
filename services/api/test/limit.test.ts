import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestPostgres,
  TcpProxy,
  type SharedTestPostgres,
} from '@pasteflow/dev-stack/testing';
import { createDatabase, rateLimitStore, type Database, type RateLimitStore } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { Limit } from '../src/http/limits/limit.ts';

let stack: SharedTestPostgres;
let url = '';
const databases: Database[] = [];
const statements: string[] = [];

/** So long that no window ends by itself. */
const WINDOW_SECONDS = 3600;

/** A pool, as each copy of the api has its own. */
function connect(to = url): Database {
  const db = createDatabase({
    url: to,
    applicationName: 'test',
    maxConnections: 5,
    onConnectionError: () => {},
    onStatement: (event) => statements.push(event.query.sql),
  });
  databases.push(db);
  return db;
}

beforeAll(async () => {
  stack = await startSharedTestPostgres();
  ({ url } = await createTestDatabase(stack));
});
afterAll(async () => {
  await Promise.all(databases.map((db) => db.destroy()));
  await stack?.stop();
});
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(connect());
  statements.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
});

function newLimit(points: number, store: Pick<RateLimitStore, 'count'> = rateLimitStore(connect())): Limit {
  return new Limit({
    name: 'requests',
    points,
    windowSeconds: WINDOW_SECONDS,
    store,
    onError: (error) => {
      throw error;
    },
  });
}

/** How many requests of one caller pass when they are spread over these processes, all at once. */
async function passing(limits: readonly Limit[], requests: number, caller = 'user:1'): Promise<number> {
  const all = Array.from({ length: requests }, (_, n) => limits[n % limits.length]!.spend(caller));
  const standings = await Promise.all(all);
  return standings.filter((standing) => standing!.allowed).length;
}

/** Stops the clock of all processes, a number of seconds later. Postgres' clock goes on. */
async function elapse(seconds: number): Promise<void> {
  const now = Math.ceil(performance.now()) + seconds * 1000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  await sql`UPDATE rate_limits SET expire = expire - ${seconds * 1000}::bigint`.execute(connect());
}

describe('a limit', () => {
  it('never admits more points than it has, whatever the amounts, in three processes together', async () => {
    const limits = [newLimit(1000), newLimit(1000), newLimit(1000)];
    const amounts = Array.from({ length: 200 }, (_, n) => 1 + ((n * 37) % 90));
    const standings = await Promise.all(amounts.map((amount, n) => limits[n % 3]!.spend('user:1', amount)));
    const spent = amounts.filter((_, n) => standings[n]!.allowed).reduce((sum, amount) => sum + amount, 0);
    expect(spent).toBeLessThanOrEqual(1000);
    expect(spent).toBeGreaterThan(700);
    await elapse(WINDOW_SECONDS);
    expect(await limits[0]!.spend('user:1', 5000)).toMatchObject({ allowed: true });
    expect(await limits[1]!.spend('user:1', 1)).toMatchObject({ allowed: false });
  });

  it.each([1, 7, 99])(
    'of %d admits exactly that many of 300 requests, in three processes together',
    async (points) => {
      const limits = [newLimit(points), newLimit(points), newLimit(points)];
      expect(await passing(limits, 300)).toBe(points);
      expect(await passing(limits, 30)).toBe(0);
    },
  );

  it('of 1000 never admits more in three processes together, and at most one portion of each process less', async () => {
    const limits = [newLimit(1000), newLimit(1000), newLimit(1000)];
    let passed = 0;
    // Bursts of all sizes, and single requests.
    for (const burst of [1, 1, 500, 2, 30, 700, 1, 400, 9, 90]) passed += await passing(limits, burst);
    expect(passed).toBeLessThanOrEqual(1000);
    expect(passed).toBeGreaterThanOrEqual(1000 - 3 * 19);
  });

  it('of 1000 admits 1000 sequential requests in one process', async () => {
    const limit = newLimit(1000);
    let passed = 0;
    for (let n = 0; n < 1100; n++) passed += await passing([limit], 1);
    expect(passed).toBe(1000);
  });

  it('is separate for each caller', async () => {
    const limit = newLimit(5);
    expect([await passing([limit], 10, 'user:1'), await passing([limit], 10, 'user:2')]).toEqual([5, 5]);
  });

  it('is complete again when the window of the first request has ended', async () => {
    const limits = [newLimit(7), newLimit(7)];
    expect(await passing(limits, 20)).toBe(7);
    await elapse(WINDOW_SECONDS / 2);
    expect(await passing(limits, 20)).toBe(0);
    await elapse(WINDOW_SECONDS / 2);
    expect(await passing(limits, 20)).toBe(7);
  });

  it('lets a portion expire with its window', async () => {
    const limit = newLimit(1000);
    await elapse(0);
    expect(await limit.spend('user:1')).toEqual({ allowed: true, remaining: 999, resetMs: 3_600_000 });
    await elapse(WINDOW_SECONDS);
    expect(await limit.spend('user:1')).toEqual({ allowed: true, remaining: 999, resetMs: 3_600_000 });
  });

  it('is complete again when the clock of Postgres has stepped back to before the window', async () => {
    const limit = newLimit(7);
    expect(await passing([limit], 20)).toBe(7);
    await sql`UPDATE rate_limits SET expire = expire + 31536000000`.execute(connect());
    expect(await passing([newLimit(7)], 20)).toBe(7);
  });

  it('reports what is left and for how long, and what it knows without asking', async () => {
    const limit = newLimit(2);
    await elapse(0);
    expect(limit.standing('user:1')).toBeNull();
    await limit.spend('user:1');
    await elapse(WINDOW_SECONDS / 2);
    const second = await limit.spend('user:1');
    expect(second).toMatchObject({ allowed: true, remaining: 0 });
    expect(second!.resetMs).toBeGreaterThan(1_000_000);
    expect(second!.resetMs).toBeLessThanOrEqual(1_800_000);
    statements.length = 0;
    expect(await limit.spend('user:1')).toEqual({ ...second, allowed: false });
    expect(limit.standing('user:1')).toEqual({ ...second, allowed: false });
    expect(newLimit(2).standing('user:1')).toBeNull();
    expect(statements).toEqual([]);
    await elapse(WINDOW_SECONDS / 2);
    expect(limit.standing('user:1')).toBeNull();
  });
});

describe('the statements of a limit', () => {
  it('are 50 for 60,000 requests, and none for refused requests', async () => {
    const limit = newLimit(60_000);
    for (let n = 0; n < 60_000; n++) await limit.spend('user:1');
    expect(statements).toHaveLength(50);
    expect(await passing([limit], 1000)).toBe(0);
    expect(statements.length).toBeLessThanOrEqual(51);
  });

  it('are few for a burst on a small limit', async () => {
    expect(await passing([newLimit(50)], 1000)).toBe(50);
    expect(statements.length).toBeLessThanOrEqual(2);
  });

  it('are one more for a caller that returns after 10,000 others', async () => {
    let asked = 0;
    const store: Pick<RateLimitStore, 'count'> = {
      count: () => {
        asked += 1;
        return Promise.resolve({ points: 1000, leftMs: 60_000 });
      },
    };
    const limit = newLimit(50_000, store);
    const spend = async (caller: string): Promise<number> => {
      const before = asked;
      await limit.spend(caller);
      return asked - before;
    };
    await spend('busy');
    await spend('rare');
    for (let n = 0; n < 9998; n++) await spend(`user:${n}`);
    expect([await spend('busy'), await spend('one more'), await spend('busy')]).toEqual([0, 1, 0]);
    expect(await spend('rare')).toBe(1);
  });
});

describe('a limit while Postgres is unavailable', () => {
  it('admits every request, asks once a second, and counts again when Postgres is back', async () => {
    const proxy = await TcpProxy.start(stack.postgres.port);
    const errors: unknown[] = [];
    const limit = new Limit({
      windowSeconds: WINDOW_SECONDS,
      name: 'requests',
      points: 3,
      store: rateLimitStore(connect(proxy.through(url))),
      onError: (error) => errors.push(error),
    });
    await proxy.down();
    await elapse(0);
    for (let n = 0; n < 100; n++) expect(await limit.spend('user:1')).toBeNull();
    expect(errors).toEqual([expect.objectContaining({ code: 'dependency_unavailable' })]);
    await elapse(1);
    expect(await Promise.all(Array.from({ length: 100 }, () => limit.spend('user:1')))).toEqual(
      Array(100).fill(null),
    );
    expect(errors).toHaveLength(2);
    await proxy.up();
    await elapse(1);
    expect(await passing([limit], 10)).toBe(3);
    await Promise.all(databases.splice(0).map((db) => db.destroy()));
    await proxy.stop();
  });
});
