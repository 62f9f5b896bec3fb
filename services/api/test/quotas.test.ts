import { describe, expect, it } from '@jest/globals';
import { requestDeletion, readStoredUsage } from '@pasteflow/postgres';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm, postJson, problemOf } from './support/http.ts';
import { newKey, postKeyed, wholeAnswer } from './support/keyed.ts';
import { limited } from './support/limits.ts';
import { countPastes, deletedPaste, pasteRow } from './support/pastes.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();

const create = ({ url }: RunningApi, headers: Readonly<Record<string, string>> = {}, bytes = 10) =>
  postJson(url, { content: 'x'.repeat(bytes) }, { ...headers });

const usageOf = async ({ url }: RunningApi, headers: Readonly<Record<string, string>> = {}) =>
  (await fetch(`${url}/v1/usage`, { headers })).json();

const browse = async (api: RunningApi, user: TestUser, path: string, init: RequestInit = {}) =>
  await fetch(api.url + path, {
    redirect: 'manual',
    ...init,
    headers: {
      accept: 'text/html',
      cookie: await signedInWith(bed.db, user.token),
      'sec-fetch-site': 'same-origin',
      ...(init.headers as Record<string, string> | undefined),
    },
  });

const DELETE_PASTES = 'Delete pastes, and try again.';

describe('a quota of a user', () => {
  it.each([
    ['pastes', { MAX_PASTES_PER_USER: '7' }, 'You store 7 of 7 pastes, '],
    ['bytes', { MAX_STORED_BYTES_PER_USER: '75' }, 'You store 70 of 75 bytes, '],
  ])('of %s lets exactly 7 of 40 concurrent creations through, over two apis', async (_, env, used) => {
    const [one, other] = [await bed.start({ env }), await bed.start({ env })];
    const user = await newUser(bed.db);
    const before = await countPastes(bed.db);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_each, n) => create(n % 2 === 0 ? one : other, user.headers)),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(33);
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).toBeNull();
      const { status, code, detail } = await problemOf(answer);
      expect([status, code]).toEqual([429, 'quota_exceeded']);
      expect(detail).toContain(used);
      expect(detail).toContain(DELETE_PASTES);
    }
    expect(await countPastes(bed.db)).toBe(before + 7);
    expect(await readStoredUsage(bed.db, user.id)).toEqual({ pastes: 7, bytes: 70 });
  });

  it('gives back what a deletion has removed', async () => {
    const api = await bed.start({ env: { MAX_PASTES_PER_USER: '1' } });
    const user = await newUser(bed.db, { name: 'alice' });
    const { short_code: code } = (await (await create(api, user.headers)).json()) as { short_code: string };
    expect((await create(api, user.headers)).status).toBe(429);
    expect(await usageOf(api, user.headers)).toEqual({
      user: 'alice',
      person: { name: 'alice', issuer: null },
      pastes: { used: 1, allowed: 1 },
      stored_bytes: null,
      bytes_today: null,
    });
    await bed.db
      .updateTable('pastes')
      .set({ status: 'PROCESSED', s3_url: 's3://pasteflow/x', processed_at: new Date() })
      .where('short_code', '=', code)
      .execute();
    await requestDeletion(bed.db, (await pasteRow(bed.db, code))!.id);
    await deletedPaste(bed.db, code);
    expect((await create(api, user.headers)).status).toBe(201);
  });

  it('repeats the answer of a key when it is used up, and lets go of the key of a refusal', async () => {
    const user = await newUser(bed.db);
    const api = await bed.start({ env: { MAX_PASTES_PER_USER: '1' } });
    const [key, refused] = [newKey(), newKey()];
    const first = await wholeAnswer(await postKeyed(api.url, { key, headers: user.headers }));
    expect(first.status).toBe(201);
    expect((await postKeyed(api.url, { key: refused, headers: user.headers })).status).toBe(429);
    const again = await wholeAnswer(await postKeyed(api.url, { key, headers: user.headers }));
    expect(again).toEqual({ ...first, replayed: true });
    const raised = await bed.start({ env: { MAX_PASTES_PER_USER: '2' } });
    expect((await postKeyed(raised.url, { key: refused, headers: user.headers })).status).toBe(201);
    expect((await create(raised, user.headers)).status).toBe(429);
  });

  it('refuses the file of an import that its page sends', async () => {
    const api = await bed.start({ env: { MAX_PASTES_PER_USER: '1' } });
    const user = await newUser(bed.db);
    await create(api, user.headers);
    const body = new FormData();
    body.append('file', new Blob(['{"content": "Hello"}']), 'pastes.ndjson');
    const { headers } = ownForm(api.url, {});
    const { 'content-type': _, ...own } = headers as Record<string, string>;
    const answer = await browse(api, user, '/my/jobs/import', { method: 'POST', headers: own, body });
    expect(answer.status).toBe(429);
    expect(await answer.text()).toContain('You store 1 of 1 pastes');
    expect(await readStoredUsage(bed.db, user.id)).toMatchObject({ pastes: 1 });
  });

  it('is shown above the list of the pastes, and nothing is without quotas', async () => {
    const env = { MAX_PASTES_PER_USER: '3', MAX_STORED_BYTES_PER_USER: '2048' };
    const api = await bed.start({ env });
    const user = await newUser(bed.db);
    await create(api, user.headers);
    const shown = /(?:<span>[^<]* of [^<]*<\/span>)+/;
    const page = await (await browse(api, user, '/my/pastes')).text();
    expect(shown.exec(page)?.[0]).toBe('<span>1 of 3 pastes</span><span>10 bytes of 2.0 KiB</span>');
    expect(await (await browse(bed.api, user, '/my/pastes')).text()).not.toMatch(shown);
  });
});

describe('the quota of all pastes', () => {
  it.each([
    ['bytes', 'MAX_STORED_BYTES', 15, 10],
    ['pastes', 'MAX_PASTES', 1, 1],
  ] as const)(
    'of %s answers 507 to everybody, in whatever way a paste is created, and logs no error',
    async (of, setting, more, used) => {
      const { [of]: before } = await readStoredUsage(bed.db, null);
      const api = await bed.start({ env: { [setting]: String(before + more) } });
      expect((await create(api)).status).toBe(201);
      const user = await newUser(bed.db);
      const post = { method: 'POST', body: 'xxxxxx' };
      const answers = [
        await create(api),
        await create(api, user.headers),
        await fetch(api.url, post),
        await fetch(`${api.url}/v1/pastes`, post),
        await postKeyed(api.url, { key: newKey() }),
      ];
      for (const answer of answers)
        expect(await problemOf(answer)).toMatchObject({
          status: 507,
          code: 'storage_full',
          detail: `This service stores ${before + used} of ${before + more} ${of}, and has no room for this paste. Ask its operator, or try again later.`,
        });
      expect(await readStoredUsage(bed.db, null)).toMatchObject({ [of]: before + used });
      expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
      expect((await create(api, {}, 5)).status).toBe(of === 'bytes' ? 201 : 507);
    },
  );
});

describe('the bytes of an address in a day', () => {
  it('limit callers without a token, and /v1/usage says what is used', async () => {
    const api = await bed.start({ env: { ...limited({ address_bytes: 1000 }), TRUST_PROXY: 'loopback' } });
    const from = (address: string) => ({ 'x-forwarded-for': address });
    expect(await usageOf(api, from('192.0.2.1'))).toMatchObject({ bytes_today: { used: 0, allowed: 1000 } });
    expect((await create(api, from('192.0.2.1'), 700)).status).toBe(201);
    expect(await usageOf(api, from('192.0.2.1'))).toEqual({
      user: null,
      person: null,
      pastes: null,
      stored_bytes: null,
      bytes_today: { used: 700, allowed: 1000 },
    });
    const refused = await create(api, from('192.0.2.1'), 400);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
    expect(await problemOf(refused)).toMatchObject({
      status: 429,
      code: 'rate_limited',
      detail: expect.stringMatching(
        /^The limit of 1000 bytes of pastes without a token per day has 300 left\./,
      ),
    });
    expect((await create(api, from('192.0.2.2'), 700)).status).toBe(201);
    const user = await newUser(bed.db);
    expect((await create(api, { ...user.headers, ...from('192.0.2.1') }, 700)).status).toBe(201);
  });
});

it('without quotas /v1/usage has no limits, and nothing is counted', async () => {
  const user = await newUser(bed.db);
  expect((await create(bed.api, user.headers)).status).toBe(201);
  for (const headers of [user.headers, {}])
    expect(await usageOf(bed.api, headers)).toMatchObject({
      pastes: null,
      stored_bytes: null,
      bytes_today: null,
    });
  expect(await readStoredUsage(bed.db, user.id)).toEqual({ pastes: 0, bytes: 0 });
});
