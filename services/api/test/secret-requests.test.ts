import { beforeEach, describe, expect, it } from '@jest/globals';
import { eraseUser } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { codeOf } from './support/http.ts';
import { newKey, postKeyed, wholeAnswer } from './support/keyed.ts';
import { expectLimited, limited } from './support/limits.ts';
import { ask, deposit, newRequest, receiptOf, type RequestView } from './support/secret-requests.ts';
import { newUser, ownToken, type TestUser } from './support/users.ts';

const bed = useApi();

let asker: TestUser;
let stranger: TestUser;
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
  asker = await newUser(bed.db, { name: `https://id.example.org#${Math.random()}` });
  stranger = await newUser(bed.db);
});

const get = (path: string, as?: TestUser) =>
  fetch(`${bed.api.url}/v1/requests${path}`, { headers: as?.headers ?? {} });
const cancel = (id: string, as?: TestUser) =>
  fetch(`${bed.api.url}/v1/requests/${id}/cancel`, { method: 'POST', headers: as?.headers ?? {} });

/** As its time would: no client can change the time of a request. */
async function expire(id: string): Promise<void> {
  await sql`ALTER TABLE secret_requests DISABLE TRIGGER USER`.execute(bed.db);
  await sql`UPDATE secret_requests SET expires_at = now() WHERE code = ${id}`.execute(bed.db);
  await sql`ALTER TABLE secret_requests ENABLE TRIGGER USER`.execute(bed.db);
}

describe('POST /v1/requests', () => {
  it('makes a request for one deposit within a week, unless more is said', async () => {
    const before = Date.now();
    const answer = await ask(bed.api.url, asker);
    expect(answer.status).toBe(201);
    const made = (await answer.json()) as RequestView;
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
      url: `${bed.api.url}/requests/${made.id}`,
      status: 'OPEN',
      message: null,
      deposits: 1,
      deposits_left: 1,
      created_at: expect.any(String),
      expires_at: expect.any(String),
    });
    expect(answer.headers.get('location')).toBe(`${bed.api.url}/v1/requests/${made.id}`);
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(604_800_000);
    expect(Date.parse(made.created_at)).toBeGreaterThan(before - 60_000);
    expect(await (await get(`/${made.id}`, asker)).json()).toEqual(made);
  });

  it.each<[string, unknown]>([
    ['no object', []],
    ['an unknown field', { key: 'x' }],
    ['no deposits', { deposits: 0 }],
    ['21 deposits', { deposits: 21 }],
    ['half a deposit', { deposits: 1.5 }],
    ['deposits as a text', { deposits: '2' }],
    ['less than a minute', { expires_in: 59 }],
    ['more than 30 days', { expires_in: '31d' }],
    ['no expiry', { expires_in: 'never' }],
    ['a number as message', { message: 1 }],
    ['a message of 201 characters', { message: 'x'.repeat(201) }],
    ['a lone surrogate', '{"message": "\\ud800"}'],
    ['NUL', '{"message": "a\\u0000b"}'],
    ['a link', { message: 'Look at https://example.org' }],
  ])('refuses %s', async (_, body) => {
    expect(await codeOf(ask(bed.api.url, asker, body))).toBe('422 validation_failed');
  });

  it.each<[string, unknown]>([
    ['the least', { message: '', deposits: 1, expires_in: 60 }],
    ['the most', { message: '😀'.repeat(200), deposits: 20, expires_in: 30 * 86_400 }],
    ['a time', { message: null, expires_in: '30d' }],
  ])('takes %s', async (_, body) => {
    expect((await ask(bed.api.url, asker, body)).status).toBe(201);
  });

  it('is for users whose token writes', async () => {
    const nobody = { id: '', token: '', headers: {} };
    expect(await codeOf(ask(bed.api.url, nobody))).toBe('401 unauthorized');
    const reader = await ownToken(bed.db, asker, 'read');
    expect(await codeOf(ask(bed.api.url, reader))).toBe('403 insufficient_scope');
    expect((await ask(bed.api.url, await ownToken(bed.db, asker, 'write'))).status).toBe(201);
    await eraseUser(bed.db, stranger.id);
    expect(await codeOf(ask(bed.api.url, stranger))).toBe('401 unauthorized');
  });

  it('makes one request for one Idempotency-Key', async () => {
    const post = { key: newKey(), path: '/v1/requests', type: 'application/json', body: '{"deposits": 3}' };
    const [first, second] = [
      await wholeAnswer(await postKeyed(bed.api.url, { ...post, headers: asker.headers })),
      await wholeAnswer(await postKeyed(bed.api.url, { ...post, headers: asker.headers })),
    ];
    expect(first).toMatchObject({ status: 201, replayed: false });
    expect(second).toEqual({ ...first, replayed: true });
    const other = postKeyed(bed.api.url, { ...post, body: '{"deposits": 4}', headers: asker.headers });
    expect(await codeOf(other)).toBe('422 idempotency_key_reused');
  });

  it('keeps at most 100 that take deposits', async () => {
    const api = await bed.start({ env: limited({ creations: 0, requests: 0 }) });
    const made: RequestView[] = [];
    for (let i = 0; i < 100; i += 1) made.push(await newRequest(api.url, asker));
    expect(await codeOf(ask(api.url, asker))).toBe('409 request_limit_reached');
    expect((await cancel(made[0]!.id, asker)).status).toBe(200);
    expect((await ask(api.url, asker)).status).toBe(201);
    expect(await codeOf(ask(api.url, asker))).toBe('409 request_limit_reached');
    await expire(made[1]!.id);
    expect((await ask(api.url, asker)).status).toBe(201);
  });
});

describe('GET /v1/requests', () => {
  it('lists those of the caller in pages, newest first, in any state', async () => {
    const made: RequestView[] = [];
    for (let deposits = 1; deposits <= 3; deposits += 1)
      made.push(await newRequest(bed.api.url, asker, { deposits, message: `No. ${deposits}` }));
    await newRequest(bed.api.url, stranger);
    await cancel(made[0]!.id, asker);
    await expire(made[1]!.id);
    const ids: string[] = [];
    for (let cursor = ''; ids.length < 4;) {
      const page = (await (await get(`?limit=2${cursor}`, asker)).json()) as {
        requests: RequestView[];
        next_cursor: string | null;
      };
      ids.push(...page.requests.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(ids).toEqual(made.map(({ id }) => id).toReversed());
    expect((await get('', undefined)).status).toBe(401);
    expect(await codeOf(get('?cursor=x', asker))).toBe('422 validation_failed');
  });
});

describe('GET /v1/requests/:id', () => {
  it('shows everybody who asks, and for what, while it takes deposits', async () => {
    const { id, url, expires_at } = await newRequest(bed.api.url, asker, {
      message: 'The password',
      deposits: 2,
    });
    for (const who of [undefined, stranger]) {
      const answer = await get(`/${id}`, who);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({
        id,
        url,
        status: 'OPEN',
        from: { name: expect.stringMatching(/^0\./), issuer: 'https://id.example.org' },
        message: 'The password',
        deposits: 2,
        deposits_left: 2,
        expires_at,
        max_bytes: 10_485_760,
      });
    }
  });

  it('shows nothing of an ended request to others, and everything to its user', async () => {
    const made = [];
    for (let i = 0; i < 4; i += 1)
      made.push(await newRequest(bed.api.url, asker, { message: 'The password', deposits: 1 }));
    const [cancelled, expired, used, erased] = made.map(({ id }) => id) as [string, string, string, string];
    await cancel(cancelled, asker);
    await expire(expired);
    await receiptOf(await deposit(bed.api.url, used));
    expect(await codeOf(get(`/${cancelled}`))).toBe('410 request_closed');
    expect(await codeOf(get(`/${expired}`, stranger))).toBe('410 request_closed');
    expect(await codeOf(get(`/${used}`))).toBe('409 request_used_up');
    for (const id of [cancelled, expired, used])
      expect(await (await get(`/${id}`)).text()).not.toMatch(/password|id\.example\.org/);
    const seen = { message: 'The password', deposits: 1 };
    expect(await (await get(`/${cancelled}`, asker)).json()).toMatchObject({ ...seen, status: 'CANCELLED' });
    expect(await (await get(`/${expired}`, asker)).json()).toMatchObject({ ...seen, status: 'OPEN' });
    const used_up = { ...seen, status: 'USED_UP', deposits_left: 0 };
    expect(await (await get(`/${used}`, asker)).json()).toMatchObject(used_up);
    await eraseUser(bed.db, asker.id);
    expect(await codeOf(get(`/${erased}`))).toBe('404 request_not_found');
  });

  it('counts an id that nobody has as a guess, and a text that is no id as none', async () => {
    const api = await bed.start({ env: limited({ misses: 3 }) });
    const { id } = await newRequest(api.url, asker);
    const of = (path: string, init?: RequestInit) => fetch(`${api.url}/v1/requests/${path}`, init);
    for (const text of ['x', 'x'.repeat(23), 'x'.repeat(21) + '-'])
      expect(await codeOf(of(text))).toBe('404 request_not_found');
    const guess = 'x'.repeat(22);
    expect(await codeOf(of(guess))).toBe('404 request_not_found');
    expect(await codeOf(deposit(api.url, guess))).toBe('404 request_not_found');
    expect(await codeOf(of(`${guess}`, { method: 'HEAD' }).then(() => of(guess)))).toBe('429 rate_limited');
    const before = api.statements.length;
    await expectLimited(await of(id), 'misses');
    await expectLimited(await deposit(api.url, id), 'misses');
    expect(api.statements.length).toBe(before);
  });
});

describe('POST /v1/requests/:id/cancel', () => {
  it('ends the request for depositors, and changes nothing when it is repeated', async () => {
    const { id } = await newRequest(bed.api.url, asker, { deposits: 2 });
    const receipt = await receiptOf(await deposit(bed.api.url, id));
    for (let i = 0; i < 2; i += 1) {
      const answer = await cancel(id, asker);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ id, status: 'CANCELLED', deposits_left: 1 });
    }
    expect(await codeOf(deposit(bed.api.url, id))).toBe('410 request_closed');
    const mine = await get(`/${id}/deposits`, asker);
    expect(await mine.json()).toMatchObject({ deposits: [{ short_code: receipt }] });
    const { rows } =
      await sql`SELECT actor, reason FROM state_transitions t JOIN secret_requests r ON r.id = t.entity::uuid
      WHERE r.code = ${id}`.execute(bed.db);
    expect(rows).toEqual([
      { actor: expect.stringContaining('api/test'), reason: 'its user has cancelled it' },
    ]);
  });

  it('is refused for one that is used up, and not found for everybody else', async () => {
    const { id } = await newRequest(bed.api.url, asker);
    expect(await codeOf(cancel(id))).toBe('401 unauthorized');
    expect(await codeOf(cancel(id, stranger))).toBe('404 request_not_found');
    expect(await codeOf(cancel(id, await ownToken(bed.db, asker, 'read')))).toBe('403 insufficient_scope');
    await receiptOf(await deposit(bed.api.url, id));
    expect(await codeOf(cancel(id, asker))).toBe('409 request_ended');
    expect(await codeOf(cancel('x'.repeat(22), asker))).toBe('404 request_not_found');
  });
});
