import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TcpProxy } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { dial, parseAnswer, postRaw } from './support/http.ts';
import { countPastes, newPaste, processedPaste } from './support/pastes.ts';
import { expectLimited, fields, limited } from './support/limits.ts';
import { until } from './support/until.ts';
import { anotherToken, newUser } from './support/users.ts';

const bed = useApi();

/** Counters are per caller, and all these requests come from one address. */
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const get = (url: string, headers: Readonly<Record<string, string>> = {}) => fetch(url, { headers });

describe('limits', () => {
  it('are exact for creations through two copies of the api', async () => {
    const env = limited({ creations: 5 });
    const copies = [await bed.start({ env }), await bed.start({ env })] as const;
    const before = await countPastes(bed.db);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => postRaw(copies[n % 2]!.url, `content ${n}`)),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(35);
    for (const response of refused) await expectLimited(response, 'creations');
    expect(await countPastes(bed.db)).toBe(before + 5);
    for (const { url } of copies) expect((await get(`${url}/v1/pastes/none`)).status).toBe(404);
  });

  it('are exact for requests of all kinds', async () => {
    const env = limited({ requests: 6 });
    const copies = [await bed.start({ env }), await bed.start({ env })] as const;
    const code = await newPaste(bed.db);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const { url } = copies[n % 2]!;
        return n % 3 === 0 ? postRaw(url, 'x') : get(`${url}/v1/pastes/${n % 3 === 1 ? code : 'none'}`);
      }),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(24);
    for (const response of refused) await expectLimited(response, 'requests');
  });

  it('refuse a creation before its body is sent', async () => {
    const api = await bed.start({ env: limited({ creations: 1 }) });
    await postRaw(api.url, 'x');
    const socket = await dial(api.port);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n');
    const whole = () => parseAnswer(Buffer.concat(chunks).toString());
    expect((await until(whole, ({ body }) => body !== '')).status).toBe(429);
    socket.destroy();
  });

  it('are separate for each token and for each address', async () => {
    const api = await bed.start({ env: { ...limited({ creations: 2 }), TRUST_PROXY: 'loopback' } });
    const [one, other] = [await newUser(bed.db), await newUser(bed.db)];
    const callers = [
      {},
      one.headers,
      other.headers,
      (await anotherToken(bed.db, one.id)).headers,
      { 'x-forwarded-for': '192.0.2.1' },
      { 'x-forwarded-for': '2001:db8:0:1::1' },
      { 'x-forwarded-for': '2001:db8:0:2::1' },
    ];
    const post = async (headers: Readonly<Record<string, string>>) =>
      (await fetch(api.url, { method: 'POST', body: 'x', headers })).status;
    for (const headers of callers) {
      expect([await post(headers), await post(headers), await post(headers)]).toEqual([201, 201, 429]);
    }
    // An address is no second account of a user, and two addresses of one network are one caller.
    expect(await post({ ...one.headers, 'x-forwarded-for': '192.0.2.9' })).toBe(429);
    expect(await post({ 'x-forwarded-for': '2001:db8:0:1:ffff::2' })).toBe(429);
  });

  it('are complete again after a minute', async () => {
    const api = await bed.start({ env: limited({ creations: 1, misses: 1 }) });
    const start = Math.ceil(performance.now());
    jest.spyOn(performance, 'now').mockImplementation(() => start);
    expect((await postRaw(api.url, 'x')).status).toBe(201);
    expect((await get(`${api.url}/none`)).status).toBe(404);
    const refused = [await postRaw(api.url, 'x'), await get(`${api.url}/none`)];
    expect(refused.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '60'],
      [429, '60'],
    ]);
    jest.spyOn(performance, 'now').mockImplementation(() => start + 60_000);
    await sql`UPDATE rate_limits SET expire = expire - 60000`.execute(bed.db);
    expect((await postRaw(api.url, 'x')).status).toBe(201);
    expect((await get(`${api.url}/none`)).status).toBe(404);
  });

  it('are off at 0, and then no answer shows them', async () => {
    const api = await bed.start({
      env: limited({ requests: 0, creations: 0, misses: 0, bytes: 0, anonymous_bytes: 0 }),
    });
    const answers = [await postRaw(api.url, 'x'), await get(`${api.url}/none`)];
    expect(answers.map(fields)).toEqual(Array(2).fill({ policy: null, limit: null }));
    expect(api.counterStatements).toEqual([]);
  });
});

describe('the RateLimit headers', () => {
  it('show the limits that a request counts against, and what is left', async () => {
    const api = await bed.start({
      env: limited({ requests: 100, creations: 50, misses: 10, bytes: 1000, anonymous_bytes: 0 }),
    });
    const code = await processedPaste(bed, 'x');
    const { headers } = await newUser(bed.db);
    expect(fields(await postRaw(api.url, 'x'))).toEqual({
      policy: '"requests";q=100;w=60, "creations";q=50;w=60, "bytes";q=1000;w=3600',
      limit: expect.stringMatching(
        /^"requests";r=99;t=(60|59), "creations";r=49;t=(60|59), "bytes";r=999;t=(3600|3599)$/,
      ),
    });
    const reading = '"misses";q=10;w=60, "requests";q=100;w=60';
    expect(fields(await get(`${api.url}/${code}`))).toEqual({
      policy: reading,
      limit: expect.stringMatching(/^"requests";r=98;t=\d+$/),
    });
    for (const left of [9, 8]) {
      const { policy, limit } = fields(await get(`${api.url}/none`));
      expect(policy).toBe(reading);
      expect(limit).toMatch(new RegExp(`^"misses";r=${left};t=\\d+, "requests";r=\\d+;t=\\d+$`));
    }
    expect(fields(await get(`${api.url}/v1/jobs`, headers))).toEqual({
      policy: '"requests";q=100;w=60',
      limit: expect.stringMatching(/^"requests";r=99;t=\d+$/),
    });
  });

  it.each([
    ['POST', '/', 422],
    ['POST', '/v1/jobs', 401],
    ['GET', '/v1/pastes', 401],
    ['HEAD', '/none', 404],
    ['DELETE', '/v1/pastes/none', 404],
  ])('are on an error of a limited route: %s %s', async (method, path, status) => {
    const response = await fetch(bed.api.url + path, { method });
    expect(response.status).toBe(status);
    expect(fields(response)).toEqual({
      policy: expect.stringContaining('"requests";q=60000;w=60'),
      limit: expect.stringMatching(/"requests";r=\d+;t=\d+/),
    });
  });

  it.each(['/', '/healthz', '/readyz', '/openapi.json', '/docs'])(
    'are absent on the open route %s',
    async (path) => {
      const api = await bed.start({ env: limited({ requests: 1 }) });
      const answers = [await get(api.url + path), await get(api.url + path)];
      for (const response of answers) {
        expect(response.status).toBe(200);
        expect(fields(response)).toEqual({ policy: null, limit: null });
      }
      expect(api.counterStatements).toEqual([]);
    },
  );
});

describe('the statements of the limits', () => {
  it('come by portions, not by requests: five for 100 creations, two for 100 reads, three with misses', async () => {
    const api = await bed.start();
    const code = await newPaste(bed.db);
    const hundred = async (send: () => Promise<Response>) => {
      const before = [api.statements.length, api.counterStatements.length] as const;
      for (let n = 0; n < 100; n++) await (await send()).arrayBuffer();
      return {
        sent: api.statements.length - before[0],
        counted: api.counterStatements.length - before[1],
      };
    };
    expect(await hundred(() => postRaw(api.url, 'x'))).toEqual({ sent: 100, counted: 5 });
    expect(await hundred(() => get(`${api.url}/v1/pastes/${code}`))).toEqual({ sent: 100, counted: 0 });
    const { counted } = await hundred(() => get(`${api.url}/v1/pastes/none`));
    expect(counted).toBeLessThanOrEqual(9); // portions of 12
  });

  it('of a creation do not wait for each other', async () => {
    const api = await bed.start();
    const waiting = async () => {
      const { rows } = await sql<{ count: number }>`SELECT count(*)::int FROM pg_locks
        WHERE NOT granted AND relation = 'rate_limits'::regclass
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(bed.db);
      return rows[0]!.count;
    };
    const answer = await bed.db.transaction().execute(async (db) => {
      await sql`LOCK TABLE rate_limits IN EXCLUSIVE MODE`.execute(db);
      const sent = postRaw(api.url, 'x');
      await until(waiting, (count) => count === 2);
      return { sent };
    });
    const created = await answer.sent;
    expect(created.status).toBe(201);
    expect(fields(created).limit).toMatch(/^"requests";.*"creations";/); // neither statement had reached its time limit
  });

  it('are none for refused requests', async () => {
    const api = await bed.start({ env: limited({ requests: 1 }) });
    await get(`${api.url}/none`);
    const before = [api.statements.length, api.counterStatements.length];
    for (let n = 0; n < 20; n++) expect((await get(`${api.url}/none`)).status).toBe(429);
    expect([api.statements.length, api.counterStatements.length]).toEqual(before);
  });
});

describe('while Postgres is unavailable', () => {
  it('no request is refused by a limit, which is logged once a minute', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const env = {
      ...limited({ requests: 1, creations: 1, misses: 1 }),
      DATABASE_URL: proxy.through(bed.databaseUrl),
    };
    const api = await bed.start({ env });
    await proxy.down();
    const start = Math.ceil(performance.now());
    jest.spyOn(performance, 'now').mockImplementation(() => start);
    const warnings = () =>
      api.logs.filter(({ message }) => message === 'rate limits suspended; Postgres is unavailable');
    for (const elapsed of [0, 1000, 59_999]) {
      jest.spyOn(performance, 'now').mockImplementation(() => start + elapsed);
      for (let n = 0; n < 3; n++) {
        expect((await postRaw(api.url, 'x')).status).toBe(503);
        expect((await get(`${api.url}/none`)).status).toBe(503);
        expect((await get(`${api.url}/favicon.ico`)).status).toBe(404);
      }
    }
    expect(warnings()).toHaveLength(1);
    jest.spyOn(performance, 'now').mockImplementation(() => start + 61_000);
    await get(`${api.url}/none`);
    await until(() => warnings().length === 2); // the second line of one kind is written at the end of its second
    await proxy.up();
    jest.spyOn(performance, 'now').mockImplementation(() => start + 70_000);
    expect((await postRaw(api.url, 'x')).status).toBe(201);
    expect((await postRaw(api.url, 'x')).status).toBe(429);
    await api.stop();
    await proxy.stop();
  });
});
