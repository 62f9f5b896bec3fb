import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion, removeTombstones } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { postJson, postRaw, problemOf } from './support/http.ts';
import { newKey, postKeyed, wholeAnswer } from './support/keyed.ts';
import {
  countPastes,
  deletedPaste,
  failedPaste,
  newPaste,
  pasteRow,
  processedPaste,
} from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

const RULE = expect.stringMatching(/^must have 3 to 64 characters, /);
const NEEDS_TOKEN = 'can be chosen only with a token; send the token of the owner';

function newSlug(): string {
  return `slug-${randomBytes(6).toString('hex')}`;
}

const post = (fields: object, user = owner) =>
  postJson(bed.api.url, { content: 'hello', ...fields }, { ...user.headers });
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(bed.api.url + path, { headers });

/** A paste of the owner. @returns its slug and its short code */
async function named(make: (of: { userId: string; slug: string }) => Promise<string>) {
  const slug = newSlug();
  return { slug, code: await make({ userId: owner.id, slug }) };
}
const stored = (content = 'hello') => named((of) => processedPaste(bed, content, of));

describe('a paste that is created with a slug', () => {
  it('is answered with the slug, in the JSON, the URL and the Location', async () => {
    const slug = newSlug();
    const response = await post({ slug });
    const paste = (await response.json()) as Record<string, string>;
    expect([response.status, paste]).toMatchObject([201, { slug, url: `${bed.api.url}/~${slug}` }]);
    expect(paste.content_url).toBe(`${bed.api.url}/v1/pastes/${paste.short_code}/content`);
    expect(response.headers.get('location')).toBe(paste.url);
    expect(await pasteRow(bed.db, paste.short_code!)).toMatchObject({ slug, user_id: owner.id });
  });

  it('can be a raw body, a form, or a text from the shell', async () => {
    const slugs = [newSlug(), newSlug(), newSlug()] as const;
    const form = new FormData();
    form.set('content', 'hello');
    form.set('slug', slugs[1]);
    const created = (path: string, body: string | FormData) =>
      fetch(bed.api.url + path, { method: 'POST', headers: owner.headers, body });
    const responses = [
      await created(`/v1/pastes?slug=${slugs[0]}`, 'hello'),
      await created('/v1/pastes', form),
      await created(`/?slug=${slugs[2]}`, 'hello'),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await responses[2]!.text()).toBe(`${bed.api.url}/~${slugs[2]}\n`);
    for (const slug of slugs) expect((await get(`/v1/pastes/~${slug}`)).status).toBe(200);
  });

  it.each([null, ''])('has none when the slug is %j, also without a token', async (slug) => {
    for (const headers of [{}, owner.headers]) {
      const paste = await (await postJson(bed.api.url, { content: 'x', slug }, headers)).json();
      expect(paste).toMatchObject({ slug: null, url: expect.not.stringContaining('~') });
    }
  });
});

describe('a creation with a slug is refused', () => {
  it.each([
    'ab',
    'x'.repeat(65),
    '-abc',
    'abc-',
    'Abc',
    'a_c',
    'a.c',
    'a/c',
    '~abc',
    'äbc',
    'abc\n',
    'abc\u0000',
    '../',
  ])('that is %j', async (slug) => {
    const before = await countPastes(bed.db);
    for (const response of [
      await post({ slug }),
      await fetch(`${bed.api.url}/v1/pastes?${new URLSearchParams({ slug }).toString()}`, {
        method: 'POST',
        headers: owner.headers,
        body: 'x',
      }),
    ])
      expect(await problemOf(response)).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ path: 'slug', message: RULE }],
      });
    expect(await countPastes(bed.db)).toBe(before);
  });

  it.each([5, {}, ['abc'], true])('that is the JSON %j', async (slug) => {
    expect(await problemOf(await post({ slug }))).toMatchObject({
      status: 422,
      errors: [{ path: 'slug' }],
    });
  });

  it('without a token, in any form', async () => {
    const before = await countPastes(bed.db);
    const form = new FormData();
    form.set('content', 'x');
    form.set('slug', 'abc');
    for (const response of [
      await postJson(bed.api.url, { content: 'x', slug: 'abc' }),
      await postRaw(bed.api.url, 'x', '?slug=abc'),
      await fetch(`${bed.api.url}/?slug=abc`, { method: 'POST', body: 'x' }),
      await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body: form }),
    ])
      expect(await problemOf(response)).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ path: 'slug', message: NEEDS_TOKEN }],
      });
    expect(await countPastes(bed.db)).toBe(before);
  });

  it.each([
    ['IN_PROGRESS', (of: object) => newPaste(bed.db, 'x', of)],
    ['PROCESSED', (of: object) => processedPaste(bed, 'x', of)],
    ['FAILED', (of: object) => failedPaste(bed.db, of)],
    ['private', (of: object) => processedPaste(bed, 'x', { ...of, visibility: 'private' })],
    [
      'deleted',
      async (of: object) => {
        const code = await processedPaste(bed, 'x', of);
        await deletedPaste(bed.db, code);
        return code;
      },
    ],
  ])('that a paste has which is %s, to everybody', async (_state, make) => {
    const { slug } = await named(make);
    const before = await countPastes(bed.db);
    for (const user of [owner, other]) {
      const problem = await problemOf(await post({ slug }, user));
      expect(problem).toMatchObject({
        status: 409,
        code: 'slug_taken',
        detail: `Another paste has the address ~${slug}. Choose another slug.`,
        errors: [{ path: 'slug', message: 'is taken by another paste; choose another one' }],
      });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('beyond the limit of the user, and only for that user', async () => {
    const api = await bed.start({ env: { MAX_SLUGS_PER_USER: '2' } });
    const [user, another] = [await newUser(bed.db), await newUser(bed.db)];
    const create = (fields: object, { headers } = user) =>
      postJson(api.url, { content: 'x', ...fields }, { ...headers });
    const slugs = [newSlug(), newSlug()];
    for (const slug of slugs) expect((await create({ slug })).status).toBe(201);
    expect(await problemOf(await create({ slug: newSlug() }))).toMatchObject({
      status: 409,
      code: 'slug_limit_reached',
      detail: expect.stringMatching(/^You have 2 pastes with a slug, which is the limit\./),
      errors: [{ path: 'slug', message: 'must be empty: you have 2 pastes with a slug, which is the limit' }],
    });
    expect(await problemOf(await create({ slug: slugs[0] }))).toMatchObject({ code: 'slug_taken' });
    expect((await create({})).status).toBe(201);
    expect((await create({ slug: newSlug() }, another)).status).toBe(201);
  });
});

describe('a slug', () => {
  it('is free again when the tombstone of its paste is removed', async () => {
    const { slug, code } = await stored();
    const row = (await pasteRow(bed.db, code))!;
    await requestDeletion(bed.db, row.id);
    expect((await get(`/~${slug}`)).status).toBe(410);
    await deletedPaste(bed.db, code);
    expect((await get(`/~${slug}`)).status).toBe(410);
    expect((await post({ slug }, other)).status).toBe(409);
    await removeTombstones(bed.db, { retentionSeconds: 0, limit: 1000 });
    expect((await get(`/~${slug}`)).status).toBe(404);
    const created = await post({ slug }, other);
    expect([created.status, await created.json()]).toMatchObject([201, { slug }]);
    expect(await (await get(`/v1/pastes/~${slug}`)).json()).not.toMatchObject({ short_code: code });
  });

  it('of a repeated request with an Idempotency-Key is answered as before, and a 409 is not kept', async () => {
    const [key, slug] = [newKey(), newSlug()];
    const send = (name: string) =>
      postKeyed(bed.api.url, { key, path: `/v1/pastes?slug=${name}`, headers: owner.headers });
    const taken = newSlug();
    await post({ slug: taken }, other);
    for (let time = 0; time < 2; time += 1)
      expect(await problemOf(await send(taken))).toMatchObject({ code: 'slug_taken' });
    const first = await wholeAnswer(await send(slug));
    expect([first.status, JSON.parse(first.body.toString())]).toMatchObject([201, { slug }]);
    expect(await wholeAnswer(await send(slug))).toEqual({ ...first, replayed: true });
    expect(await problemOf(await send(newSlug()))).toMatchObject({ code: 'idempotency_key_reused' });
  });
});
