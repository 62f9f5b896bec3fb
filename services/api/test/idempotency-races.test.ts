import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy, type SpawnedProcess, spawnService, TcpProxy } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { fileURLToPath } from 'node:url';
import { retryAfterSeconds } from '../src/http/idempotency/idempotency.ts';
import { useApi } from './support/api.ts';
import { COMMIT, type HoldingProxy, startHoldingProxy } from './support/holding-proxy.ts';
import { problemOf } from './support/http.ts';
import {
  keyRows,
  lapseClaims,
  leaveClaims,
  newKey,
  postKeyed,
  raceOneKey,
  wholeAnswer,
  type WholeAnswer,
} from './support/keyed.ts';
import { countPastes } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();

beforeEach(async () => {
  await sql`TRUNCATE idempotency_keys`.execute(bed.db);
});

describe('40 concurrent requests with one key, through two copies of the api', () => {
  // The volume of this property is in idempotency-races.volume.ts.
  it('create one paste: each gets the same 201 or a 409, and a 201 when it is repeated after the 409', () =>
    raceOneKey(bed, 40));
});

/** Blocks inserts into `pastes` while this runs, so that a request stops in the middle of its creation. */
async function whileHeld(run: () => Promise<void>): Promise<void> {
  await bed.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE pastes IN SHARE MODE`.execute(tx);
    await run();
  });
}

async function blocked(text: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${`%${text}%`}`.execute(
    bed.db,
  );
  return rows[0]!.count;
}

describe('a request whose first copy still runs', () => {
  it('is answered 409 with Retry-After, and 422 with another body; then it gets the answer', async () => {
    const key = newKey();
    let first: Promise<Response> | undefined;
    await whileHeld(async () => {
      first = postKeyed(bed.api.url, { key });
      await until(
        () => blocked('entry AS MATERIALIZED'),
        (count) => count === 1,
      );
      const second = await postKeyed(bed.api.url, { key });
      expect(second.headers.get('retry-after')).toMatch(/^[1-8]$/);
      expect(await problemOf(second)).toMatchObject({ status: 409, code: 'idempotency_key_in_use' });
      await leaveClaims(bed.db, 8);
      const later = await postKeyed(bed.api.url, { key });
      expect(later.headers.get('retry-after')).toMatch(/^[2-8]$/);
      const other = await postKeyed(bed.api.url, { key, body: 'other' });
      expect(await problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    });
    const answer = await wholeAnswer(await first!);
    expect(answer.status).toBe(201);
    expect(await wholeAnswer(await postKeyed(bed.api.url, { key }))).toEqual({ ...answer, replayed: true });
  });
});

describe('a request whose claim has expired and whose key another request has claimed', () => {
  it.each([
    ['first, before the other has created its paste', 'slow'],
    ['after the other has created its paste', 'quick'],
  ])('creates nothing, sends nothing, and is answered 409: it continues %s', async (_name, goesFirst) => {
    const held = [
      await holdingProxy('INSERT INTO pastes'),
      await holdingProxy('INSERT INTO pastes'),
    ] as const;
    const [slow, quick] = await Promise.all(
      held.map((proxy) => bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } })),
    );
    const key = newKey();
    const before = await countPastes(bed.db);
    const ofSlow = postKeyed(slow!.url, { key });
    await held[0].holding;
    await lapseClaims(bed.db);
    const ofQuick = postKeyed(quick!.url, { key });
    await held[1].holding;
    if (goesFirst === 'quick') {
      held[1].release();
      await ofQuick;
    }
    held[0].release();
    expect(await problemOf(await ofSlow)).toMatchObject({ status: 409, code: 'idempotency_key_in_use' });
    held[1].release();
    const made = await wholeAnswer(await ofQuick);
    expect(made).toMatchObject({ status: 201, replayed: false });
    expect(await countPastes(bed.db)).toBe(before + 1);
    expect(await wholeAnswer(await postKeyed(slow!.url, { key }))).toEqual({ ...made, replayed: true });
    await until(() => quick!.stampStatements.length === 1);
    expect(slow!.stampStatements).toEqual([]);
  });
});

const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const services: SpawnedProcess[] = [];
const proxies: HoldingProxy[] = [];

afterEach(async () => {
  for (const service of services.splice(0)) {
    service.kill('SIGKILL');
    await service.exited;
  }
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

async function holdingProxy(text: string): Promise<HoldingProxy> {
  const proxy = await startHoldingProxy(bed.stack.postgres.port, text);
  proxies.push(proxy);
  return proxy;
}

/** A process of its own, which receives nothing from Postgres after it has sent this text. */
async function startProcess(
  text: string,
): Promise<{ url: string; proxy: HoldingProxy; kill(): Promise<void> }> {
  const proxy = await holdingProxy(text);
  const service = spawnService({
    entry,
    env: {
      DATABASE_URL: proxy.through(bed.databaseUrl),
      AWS_ENDPOINT_URL: bed.stack.aws.endpoint,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      API_PORT: '0',
      METRICS_PORT: '0',
      LOG_FORMAT: 'json',
    },
  });
  services.push(service);
  const [, url = ''] = await service.waitFor(/"message":"listening".*"url":"([^"]+)"/);
  return {
    url,
    proxy,
    kill: async () => {
      service.kill('SIGKILL');
      await service.exited;
    },
  };
}

describe('a process that is killed', () => {
  it.each([
    ['when it has claimed the key', 'INSERT INTO idempotency_keys'],
    ['while it inserts the paste', 'INSERT INTO pastes'],
    ['before the commit', 'UPDATE idempotency_keys'],
  ])(
    '%s leaves nothing behind: when its claim has expired, the next request creates the paste',
    async (_name, text) => {
      const dying = await startProcess(text);
      const key = newKey();
      const before = await countPastes(bed.db);
      const outcome = postKeyed(dying.url, { key }).then(
        () => 'answered',
        () => 'lost',
      );
      await dying.proxy.holding;
      await until(async () => (await keyRows(bed.db)).length === 1);
      await dying.kill();
      expect(await outcome).toBe('lost');
      const early = await postKeyed(bed.api.url, { key });
      expect(await problemOf(early)).toMatchObject({ status: 409, code: 'idempotency_key_in_use' });
      await lapseClaims(bed.db);
      const made = await wholeAnswer(await postKeyed(bed.api.url, { key }));
      expect(made).toMatchObject({ status: 201, replayed: false });
      expect(await wholeAnswer(await postKeyed(bed.api.url, { key }))).toEqual({ ...made, replayed: true });
      expect(await countPastes(bed.db)).toBe(before + 1);
    },
  );

  it('after the commit and before its answer has created the paste: the next request gets the answer', async () => {
    const dying = await startProcess(COMMIT);
    const key = newKey();
    const before = await countPastes(bed.db);
    const outcome = postKeyed(dying.url, { key }).then(
      () => 'answered',
      () => 'lost',
    );
    await dying.proxy.holding;
    await until(
      () => countPastes(bed.db),
      (count) => count === before + 1,
    );
    await dying.kill();
    expect(await outcome).toBe('lost');
    const again = await wholeAnswer(await postKeyed(bed.api.url, { key }));
    expect(again).toMatchObject({ status: 201, replayed: true });
    expect(await countPastes(bed.db)).toBe(before + 1);
    const { short_code } = JSON.parse(again.body.toString()) as { short_code: string };
    expect((await fetch(`${bed.api.url}/v1/pastes/${short_code}`)).status).toBe(200);
  });
});

describe('a commit whose confirmation is lost', () => {
  it('is answered 503, and the next request gets the answer', async () => {
    const proxy = await holdingProxy(COMMIT);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const key = newKey();
    const before = await countPastes(bed.db);
    const first = postKeyed(api.url, { key });
    await proxy.holding;
    await until(
      () => countPastes(bed.db),
      (count) => count === before + 1,
    );
    await proxy.drop();
    expect(await problemOf(await first)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    const again = await wholeAnswer(await postKeyed(api.url, { key }));
    expect(again).toMatchObject({ status: 201, replayed: true });
    expect(await countPastes(bed.db)).toBe(before + 1);
  });
});

describe('while Postgres is unavailable during a creation', () => {
  it('leaves the key claimed until the claim expires, and logs it', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    const key = newKey();
    let first: Promise<Response> | undefined;
    await whileHeld(async () => {
      first = postKeyed(api.url, { key });
      await until(
        () => blocked('entry AS MATERIALIZED'),
        (count) => count === 1,
      );
      await proxy.down();
      expect(await problemOf(await first)).toMatchObject({ status: 503 });
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
        AND query LIKE '%entry AS MATERIALIZED%' AND wait_event_type = 'Lock'`.execute(bed.db);
    });
    expect(api.logs).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'idempotency key not released; its claim will expire',
      }),
    );
    expect((await postKeyed(bed.api.url, { key })).status).toBe(409);
    await lapseClaims(bed.db);
    expect((await postKeyed(bed.api.url, { key })).status).toBe(201);
    await api.stop();
    await proxy.stop();
  });
});

describe('while SQS is unavailable', () => {
  it('answers a request with a key 201, and replays the answer', async () => {
    const proxy = await FaultProxy.start(bed.stack.aws.endpoint);
    const api = await bed.start({ env: { AWS_ENDPOINT_URL_SQS: proxy.url } });
    await proxy.down();
    const key = newKey();
    const answers: WholeAnswer[] = [];
    for (const _again of [1, 2]) answers.push(await wholeAnswer(await postKeyed(api.url, { key })));
    expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, false],
      [201, true],
    ]);
    await api.stop();
    await proxy.stop();
  });
});

it.each([
  [15, 1],
  [14.2, 1],
  [12, 3],
  [7.5, 8],
  [4, 4],
  [0.2, 1],
])('with %d s until the claim expires, Retry-After is %d s', (left, seconds) => {
  expect(retryAfterSeconds(left)).toBe(seconds);
});
