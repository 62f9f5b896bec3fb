import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { rateLimitStore } from '@pasteflow/postgres';
import { createLogger, Metrics } from '@pasteflow/runtime';
import { randomShortCode } from '@pasteflow/service-kit';
import { sql } from 'kysely';
import { Limits } from '../src/http/limits/limits.ts';
import { useApi } from './support/api.ts';
import { dial, ownPage, postJson, problemOf, refusalOn } from './support/http.ts';
import { expectLimited, limited } from './support/limits.ts';
import { countPastes } from './support/pastes.ts';
import { recordedBody } from './support/recorded-pastes.ts';
import { metricOf } from './support/until.ts';
import { anotherToken, newUser, signedInWith } from './support/users.ts';

const bed = useApi();

/** Counters are per caller, and all these requests come from one address. */
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
});

describe('the bytes of new pastes in an hour', () => {
  const post = async (url: string, bytes: number, headers: Readonly<Record<string, string>> = {}) =>
    await fetch(url, { method: 'POST', body: 'x'.repeat(bytes), headers });
  const from = (n: number) => ({ 'x-forwarded-for': `192.0.2.${n}` });

  it('are limited for each caller, through two copies of the api, in every form', async () => {
    const env = { ...limited({ bytes: 1000, anonymous_bytes: 0 }), TRUST_PROXY: 'loopback' };
    const copies = [await bed.start({ env }), await bed.start({ env })] as const;
    const before = await countPastes(bed.db);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => post(copies[n % 2]!.url, 100)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(30);
    for (const response of refused) await expectLimited(response, 'bytes');
    expect(await countPastes(bed.db)).toBe(before + 10);
    const [{ url }] = copies;
    const form = new FormData();
    form.append('content', 'x');
    const privateBin = { 'x-requested-with': 'JSONHttpRequest' };
    const others = [
      await fetch(url, { method: 'POST', body: form }),
      await postJson(url, { content: 'x' }),
      await fetch(url, { method: 'POST', body: recordedBody('text'), headers: privateBin }),
    ];
    expect(others.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(await others[2]!.json()).toMatchObject({ status: 1 });
    expect(await problemOf(others[1]!)).toMatchObject({
      detail: expect.stringMatching(/^The limit of 1000 bytes per hour is used up\. Try again in \d+ s\.$/),
    });
    expect((await post(url, 100, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(201);
  });

  it('are limited for all callers without a token together, and a token passes', async () => {
    const env = { ...limited({ anonymous_bytes: 1_000_000 }), TRUST_PROXY: 'loopback' };
    const api = await bed.start({ env });
    const user = await newUser(bed.db);
    const statuses = [];
    for (let n = 0; n < 12; n += 1) statuses.push((await post(api.url, 100_000, from(n))).status);
    expect(statuses).toEqual([...Array(10).fill(201), 429, 429]);
    const refused = await post(api.url, 70_000, from(50));
    await expectLimited(refused, 'anonymous_bytes');
    expect((await post(api.url, 70_000, user.headers)).status).toBe(201);
    expect(await metricOf(api, 'rate_limited_total', { limit: 'anonymous_bytes' })).toBe(3);
  });

  it('of others refuse no small paste without a token, and small ones count with the others', async () => {
    const env = { ...limited({ anonymous_bytes: 100_000 }), TRUST_PROXY: 'loopback' };
    const api = await bed.start({ env });
    for (const n of [1, 2]) expect((await post(api.url, 50_000, from(n))).status).toBe(201);
    await expectLimited(await post(api.url, 70_000, from(3)), 'anonymous_bytes');
    expect((await post(api.url, 65_536, from(4))).status).toBe(201);
  });

  it('end for all pastes without a token, also small ones, at twice the limit of all these callers', async () => {
    const env = { ...limited({ anonymous_bytes: 100_000 }), TRUST_PROXY: 'loopback' };
    const api = await bed.start({ env });
    for (const n of [1, 2, 3, 4]) expect((await post(api.url, 50_000, from(n))).status).toBe(201);
    await expectLimited(await post(api.url, 1000, from(5)), 'all_anonymous_bytes');
    expect((await post(api.url, 1000, (await newUser(bed.db)).headers)).status).toBe(201);
  });

  it.each([
    ['bytes', 'site_bytes'],
    ['address_bytes', 'site_address_bytes'],
  ])('of a /48 are four times the %s of its networks', async (limit, refusedBy) => {
    const api = await bed.start({ env: { ...limited({ [limit]: 1000 }), TRUST_PROXY: 'loopback' } });
    const send = (network: string) => post(api.url, 1000, { 'x-forwarded-for': `2001:db8:${network}::1` });
    for (const n of [1, 2, 3, 4]) expect((await send(`7:${n}`)).status).toBe(201);
    const refused = await send('7:5');
    expect([refused.status, refused.headers.get('ratelimit')]).toEqual([
      429,
      expect.stringContaining(`"${refusedBy}";r=0;`),
    ]);
    expect((await send('8:1')).status).toBe(201);
  });

  it('of one address, which its own limit refuses, are none of those that all callers share', async () => {
    const env = { ...limited({ bytes: 1_000_000, anonymous_bytes: 5_000_000 }), TRUST_PROXY: 'loopback' };
    const api = await bed.start({ env });
    const statuses = [];
    for (let n = 0; n < 9; n += 1) statuses.push((await post(api.url, 600_000, from(1))).status);
    expect(statuses).toEqual([201, ...Array(8).fill(429)]);
    expect((await post(api.url, 300_000, from(2))).status).toBe(201);
  });

  it('of a file are not counted against its own import', async () => {
    const api = await bed.start({ env: limited({ bytes: 1000 }) });
    const { token } = await newUser(bed.db);
    const headers = { ...ownPage(api.url), cookie: await signedInWith(bed.db, token) };
    const start = async () => {
      const body = new FormData();
      body.set('file', new Blob(['x'.repeat(1000)]), 'pastes.zip');
      const form = { method: 'POST', redirect: 'manual', headers, body } as const;
      return (await fetch(`${api.url}/my/jobs/import`, form)).status;
    };
    expect([await start(), await start()]).toEqual([303, 429]);
  });

  it('of a file are given back when its import is refused', async () => {
    const api = await bed.start({ env: limited({ bytes: 1000 }) });
    const user = await newUser(bed.db);
    const headers = { ...ownPage(api.url), cookie: await signedInWith(bed.db, user.token) };
    const body = new FormData();
    body.set('file', new Blob(['x'.repeat(1000)]), 'pastes.zip');
    body.set('visibility', 'none');
    const refused = await fetch(`${api.url}/my/jobs/import`, { method: 'POST', headers, body });
    expect(refused.status).toBe(422);
    expect((await post(api.url, 1000, user.headers)).status).toBe(201);
  });

  it('are given back when the paste is not created', async () => {
    const limits = limited({ bytes: 1_000_000, anonymous_bytes: 1_000_000 });
    const api = await bed.start({ env: { ...limits, TRUST_PROXY: 'loopback' } });
    for (let n = 0; n < 3; n += 1)
      expect((await post(`${api.url}?parent=${randomShortCode()}`, 600_000, from(1))).status).toBe(422);
    expect((await post(api.url, 600_000, from(1))).status).toBe(201);
    for (let n = 0; n < 3; n += 1) expect((await post(api.url, 600_000, from(2))).status).toBe(429);
    expect((await post(api.url, 400_000, from(2))).status).toBe(201);
    expect((await post(api.url, 600_000, from(3))).status).toBe(429);
  });

  it('are given back when the request is answered already, so that its answer can have no more headers', async () => {
    const none = { requests: 0, creations: 0, misses: 0, anonymous_bytes: 0, address_bytes: 0, reports: 0 };
    const limits = new Limits({
      limits: { ...none, bytes: 1000 },
      store: rateLimitStore(bed.db),
      logger: createLogger({ service: 'test', level: 'error', format: 'json' }),
      metrics: new Metrics('test'),
    });
    const spend = (res: ServerResponse) =>
      limits.spendBytes(res, { kind: 'anonymous', address: '192.0.2.9' }, 1000);
    const newAnswer = () => new ServerResponse(new IncomingMessage(new Socket()));
    const answered = newAnswer();
    answered.writeHead(503).end();
    await expect(spend(answered)).rejects.toThrow('headers after they are sent');
    await spend(newAnswer());
    await expect(spend(newAnswer())).rejects.toThrow('is used up');
  });

  it('are those of a user, with all tokens, and imports count with them', async () => {
    const api = await bed.start({ env: limited({ bytes: 1000 }) });
    const user = await newUser(bed.db);
    expect((await post(api.url, 600, user.headers)).status).toBe(201);
    const other = await anotherToken(bed.db, user.id);
    await expectTooLittle(await post(api.url, 600, other.headers));
    expect((await post(api.url, 400, other.headers)).status).toBe(201);
    const imported = await fetch(`${api.url}/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...user.headers },
      body: JSON.stringify({ job_type: 'import', parameters: { items: [{ content: 'x' }] } }),
    });
    expect([imported.status, (await problemOf(imported)).code]).toEqual([429, 'rate_limited']);
  });

  it('that are used up refuse a paste before its body is sent, and a replayed answer costs none', async () => {
    const api = await bed.start({ env: limited({ bytes: 1000, anonymous_bytes: 0 }) });
    const keyed = { 'idempotency-key': 'one-key' };
    for (let n = 0; n < 3; n += 1) expect((await post(api.url, 600, keyed)).status).toBe(201);
    expect((await post(api.url, 400)).status).toBe(201);
    const socket = await dial(api.port);
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 5\r\n\r\n',
    );
    expect((await refusalOn(socket)).status).toBe(429);
  });

  it('may all be those of one paste, also of one that is larger', async () => {
    const api = await bed.start({ env: limited({ bytes: 1000 }) });
    expect((await post(api.url, 5000)).status).toBe(201);
    expect((await post(api.url, 1)).status).toBe(429);
  });
});

/** A part of the limit is left, but too little. */
async function expectTooLittle(response: Response): Promise<void> {
  expect(response.headers.get('ratelimit')).toContain('"bytes";r=400;');
  expect(await problemOf(response)).toMatchObject({
    status: 429,
    detail: expect.stringContaining('The limit of 1000 bytes per hour has 400 left.'),
  });
}
