import { beforeEach, describe, expect, it } from '@jest/globals';
import { decodeCursor, encodeCursor } from '@pasteflow/service-kit';
import { useApi } from './support/api.ts';
import { postJson, postRaw, problemOf } from './support/http.ts';
import { countPastes, expire, failedPaste, newPaste, pasteRow, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

interface ListBody {
  readonly pastes: readonly { readonly short_code: string; readonly [field: string]: unknown }[];
  readonly next_cursor: string | null;
}

const bed = useApi();

let owner: TestUser;
beforeEach(async () => {
  owner = await newUser(bed.db);
});

const get = (query = '', as: TestUser = owner) =>
  fetch(`${bed.api.url}/v1/pastes${query}`, { headers: as.headers });

async function list(query = '', as?: TestUser): Promise<ListBody> {
  const response = await get(query, as);
  expect(response.status).toBe(200);
  return (await response.json()) as ListBody;
}

const codesIn = ({ pastes }: ListBody) => pastes.map(({ short_code }) => short_code);

describe('a paste created with a token', () => {
  it('belongs to its user, and has no delete token', async () => {
    const response = await postJson(bed.api.url, { content: 'x' }, owner.headers);
    const created = (await response.json()) as Record<string, string>;
    expect(response.status).toBe(201);
    expect(created).not.toHaveProperty('delete_token');
    expect(await pasteRow(bed.db, created.short_code!)).toMatchObject({
      user_id: owner.id,
      delete_token_hash: null,
    });
    expect((await list()).pastes).toEqual([created]);
  });

  it('has no delete token when it is created from the shell', async () => {
    const response = await fetch(bed.api.url, { method: 'POST', headers: owner.headers, body: 'x' });
    expect([response.status, response.headers.get('delete-token')]).toEqual([201, null]);
    const code = new URL((await response.text()).trim()).pathname.slice(1);
    expect(await pasteRow(bed.db, code)).toMatchObject({ user_id: owner.id, delete_token_hash: null });
  });

  it('is deleted by its owner, and then no longer listed', async () => {
    const code = await processedPaste(bed, 'x', { userId: owner.id });
    const url = `${bed.api.url}/v1/pastes/${code}`;
    const stranger = await newUser(bed.db);
    for (const headers of [{}, stranger.headers, { 'delete-token': '' }]) {
      const response = await fetch(url, { method: 'DELETE', headers });
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pasteflow"');
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
    }
    expect(codesIn(await list())).toEqual([code]);
    expect((await fetch(url, { method: 'DELETE', headers: owner.headers })).status).toBe(204);
    expect(codesIn(await list())).toEqual([]);
    expect((await fetch(url, { headers: owner.headers })).status).toBe(410);
  });
});

describe('GET /v1/pastes', () => {
  it('lists the caller’s own pastes, newest first, each as a single read shows it, and no other’s', async () => {
    const other = await newUser(bed.db);
    await newPaste(bed.db, 'anonymous');
    await newPaste(bed.db, 'theirs', { userId: other.id });
    const made = [
      await processedPaste(bed, 'one', { userId: owner.id }),
      await newPaste(bed.db, 'two', { userId: owner.id, visibility: 'private' }),
    ];
    const found = await list();
    expect(codesIn(found)).toEqual(made.toReversed());
    expect(found.next_cursor).toBeNull();
    const alone = await fetch(`${bed.api.url}/v1/pastes/${made[1]}`, { headers: owner.headers });
    expect(found.pastes[0]).toEqual(await alone.json());
    expect(codesIn(await list('', other))).toHaveLength(1);
  });

  it('lists the pastes of one status', async () => {
    const made = {
      PROCESSED: await processedPaste(bed, 'x', { userId: owner.id }),
      IN_PROGRESS: await newPaste(bed.db, 'x', { userId: owner.id }),
      FAILED: await failedPaste(bed.db, { userId: owner.id }),
    };
    for (const [status, code] of Object.entries(made))
      expect(codesIn(await list(`?status=${status}`))).toEqual([code]);
    await expire(bed.db, made.PROCESSED);
    expect(codesIn(await list('?status=PROCESSED'))).toEqual([]);
    expect(codesIn(await list())).toEqual([made.FAILED, made.IN_PROGRESS]);
  });

  it('lists 20 by default and at most 100, and a cursor continues behind them whatever is created meanwhile', async () => {
    const made: string[] = [];
    for (let n = 0; n < 45; n += 1) made.unshift(await newPaste(bed.db, 'x', { userId: owner.id }));
    expect(codesIn(await list())).toEqual(made.slice(0, 20));
    expect(codesIn(await list('?limit=100'))).toEqual(made);
    const pages: string[][] = [];
    for (let query = '?limit=15'; query !== '';) {
      const { next_cursor: next, ...page } = await list(query);
      pages.push(codesIn({ ...page, next_cursor: null }));
      await newPaste(bed.db, 'meanwhile', { userId: owner.id });
      query = next === null ? '' : `?limit=15&cursor=${next}`;
    }
    expect(pages.flat()).toEqual(made);
    expect(pages).toHaveLength(3);
  });

  it.each([
    ['?status=processed', 'status'],
    ['?status=', 'status'],
    ['?status=DELETED', 'status'],
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=-1', 'limit'],
    ['?limit=1.5', 'limit'],
    ['?limit=1e1', 'limit'],
    ['?limit=', 'limit'],
    ['?limit=ten', 'limit'],
    ['?cursor=', 'cursor'],
    ['?cursor=abc', 'cursor'],
    ['?cursor=%00', 'cursor'],
    ['?limit=1&limit=2', 'limit'],
    ['?colour=red', 'colour'],
  ])('answers %s with 422 that names the parameter', async (query, path) => {
    expect(await problemOf(await get(query))).toMatchObject({
      status: 422,
      code: 'validation_failed',
      errors: [{ path }],
    });
  });
});

describe('a cursor', () => {
  const id = '019aa5b2-7c00-7000-8000-000000000000';
  const write = (...value: unknown[]) => Buffer.from(JSON.stringify(value)).toString('base64url');

  it.each([
    '2026-11-21 12:00:00.123456+00',
    '2026-11-21 12:00:00+00',
    '2026-02-28 23:59:59.1-03:30',
    '2024-02-29T12:00:00Z',
  ])('decodes to what was encoded: %s', async (createdAt) => {
    const cursor = encodeCursor({ createdAt, id });
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(decodeCursor(cursor)).toEqual({ createdAt, id });
    expect((await get(`?cursor=${cursor}`)).status).toBe(200);
  });

  it.each<[string, unknown[]]>([
    ['a day that does not exist', ['2026-02-30 12:00:00+00', id]],
    ['a month that does not exist', ['2026-13-01 12:00:00+00', id]],
    ['an hour that does not exist', ['2026-11-21 24:00:00+00', id]],
    ['a year before Christ', ['0000-11-21 12:00:00+00', id]],
    ['a time zone that does not exist', ['2026-11-21 12:00:00+99', id]],
    ['no time zone', ['2026-11-21 12:00:00', id]],
    ['infinity', ['infinity', id]],
    ['SQL', ["2026-11-21 12:00:00+00'; DROP TABLE pastes; --", id]],
    ['an id that is none', ['2026-11-21 12:00:00+00', 'x']],
    ['no id', ['2026-11-21 12:00:00+00']],
    ['numbers', [1, 2]],
    ['more', ['2026-11-21 12:00:00+00', id, id]],
  ])('is refused with %s', async (_name, value) => {
    expect(decodeCursor(write(...value))).toBeNull();
    expect((await get(`?cursor=${write(...value)}`)).status).toBe(422);
  });

  it.each(['', 'null', '{}', '"x"', '[', '\u{0}'])('is refused as %j', (text) => {
    expect(decodeCursor(Buffer.from(text).toString('base64url'))).toBeNull();
  });
});

describe('ANONYMOUS_PASTES=deny', () => {
  it('refuses creations without a token, and allows everybody to read', async () => {
    const api = await bed.start({ env: { ANONYMOUS_PASTES: 'deny' } });
    const before = await countPastes(bed.db);
    for (const response of [
      await postRaw(api.url, 'x'),
      await postJson(api.url, 'not even JSON'),
      await postJson(api.url, { content: 'x', visibility: 'private' }),
      await fetch(api.url, { method: 'POST', body: 'x' }),
    ]) {
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pasteflow"');
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
    }
    expect(await countPastes(bed.db)).toBe(before);
    expect((await postJson(api.url, { content: 'x' }, owner.headers)).status).toBe(201);
    const anonymous = await processedPaste(bed, 'made before');
    expect(await (await fetch(`${api.url}/${anonymous}`)).text()).toBe('made before');
    const deleted = await fetch(`${api.url}/v1/pastes/${anonymous}`, {
      method: 'DELETE',
      headers: { 'delete-token': 'the token' },
    });
    expect(deleted.status).toBe(204);
  });

  it('is in the document: creating requires a token', async () => {
    const api = await bed.start({ env: { ANONYMOUS_PASTES: 'deny' } });
    const securityOf = async (url: string) => {
      const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { security: unknown }>>;
      };
      return [paths['/']!.post!.security, paths['/v1/pastes']!.post!.security];
    };
    expect(await securityOf(api.url)).toEqual([[{ bearer: [] }], [{ bearer: [] }]]);
    expect(await securityOf(bed.api.url)).toEqual([
      [{ bearer: [] }, {}],
      [{ bearer: [] }, {}],
    ]);
  });
});
