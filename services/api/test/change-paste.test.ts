import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { moveSlug, rejectReports, requestDeletion, takeDown } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import {
  compressedPaste,
  expire,
  failedPaste,
  newPaste,
  pasteRow,
  processedPaste,
  type Ownership,
} from './support/pastes.ts';
import { browseAs, BROWSER } from './support/sign-in.ts';
import { until } from './support/until.ts';
import { newUser, ownToken, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

type Headers = Readonly<Record<string, string>>;
const patch = (name: string, body: unknown, headers: Headers = owner.headers) =>
  fetch(`${bed.api.url}/v1/pastes/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const get = (path: string, headers: Headers = {}) => fetch(bed.api.url + path, { headers });
const own = (of: Ownership = {}) => processedPaste(bed, 'content', { userId: owner.id, ...of });
const withToken = (token = 'the token') => ({ 'delete-token': token });
const fieldsOf = async (response: Response) => {
  const { code, errors = [] } = await problemOf(response);
  return [response.status, code, ...errors.map(({ path }) => path)];
};

async function untilSomebodyWaits(): Promise<void> {
  const waiting = sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  const count = async () => (await waiting.execute(bed.db)).rows.length;
  await until(count, (found) => found > 0);
}

describe('PATCH /v1/pastes/:short_code', () => {
  it('answers with the paste, of which the fields that were not named stay', async () => {
    const slug = `slug-${randomBytes(6).toString('hex')}`;
    const code = await own({ slug });
    const before = (await (await get(`/v1/pastes/${code}`)).json()) as object;
    const titled = await patch(`~${slug}`, { title: 'Zürich', syntax: 'py' });
    expect([titled.status, await titled.json()]).toEqual([200, { ...before, title: 'Zürich', syntax: 'py' }]);
    const emptied = await patch(code, { title: '', visibility: 'private', expires_at: null });
    const after = { ...before, syntax: 'py', visibility: 'private', expires_at: null };
    expect([emptied.status, await emptied.json()]).toEqual([200, after]);
  });

  it('takes an expiry from now, or at a time, also while the upload is in progress', async () => {
    const code = await newPaste(bed.db, 'content', { userId: owner.id });
    const soon = new Date(Date.now() + 7_200_000).toISOString();
    expect(await (await patch(code, { expires_at: soon })).json()).toMatchObject({ expires_at: soon });
    const before = Date.now();
    const { expires_at: inDays } = (await (await patch(code, { expires_in: '7d' })).json()) as {
      expires_at: string;
    };
    expect(Math.abs(Date.parse(inDays) - before - 7 * 86_400_000)).toBeLessThan(120_000);
    expect(await (await patch(code, { expires_in: 'never' })).json()).toMatchObject({ expires_at: null });
    const farOff = ['1999-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59'];
    const refused = ['tomorrow', '2026-12-24T18:00', '2026-13-01T00:00:00Z', ...farOff, 5];
    for (const expires_at of refused)
      expect(await fieldsOf(await patch(code, { expires_at }))).toEqual([
        422,
        'validation_failed',
        'expires_at',
      ]);
  });

  it.each<readonly [string, unknown, readonly string[]]>([
    ['the content', { content: 'another' }, ['content']],
    ['no field', {}, ['']],
    ['two expiries', { expires_in: 60, expires_at: null }, ['expires_at']],
    ['an expiry that is too soon', { expires_in: 59 }, ['expires_in']],
    ['a title of two lines', { title: 'a\nb' }, ['title']],
    ['an unknown language', { syntax: 'klingon' }, ['syntax']],
    ['unknown readers', { visibility: 'friends' }, ['visibility']],
    ['what is set at the creation', { slug: 'new-name', burn: true }, ['slug', 'burn']],
  ])('refuses %s', async (_what, body, paths) => {
    expect(await fieldsOf(await patch(await own(), body))).toEqual([422, 'validation_failed', ...paths]);
  });

  it('refuses a title of an encrypted paste, and a private one that nobody could read', async () => {
    const [encrypted, anonymous] = [await own(), await processedPaste(bed, 'content')];
    await sql`UPDATE pastes SET encrypted = true WHERE short_code = ${encrypted}`.execute(bed.db);
    const tells = await patch(encrypted, { title: 'a', syntax: 'py' });
    expect(await fieldsOf(tells)).toEqual([422, 'validation_failed', 'title', 'syntax']);
    const unread = await patch(anonymous, { visibility: 'private' }, withToken());
    expect(await fieldsOf(unread)).toEqual([422, 'validation_failed', 'visibility']);
  });

  it('is for the owner, whose token may write, and for who has the delete token of an anonymous paste', async () => {
    const [code, anonymous] = [await own(), await newPaste(bed.db)];
    const { token: reading } = await ownToken(bed.db, owner, 'read');
    const refused: readonly (readonly [string, Headers, number, string])[] = [
      [code, {}, 401, 'unauthorized'],
      [code, withToken(), 401, 'unauthorized'],
      [code, other.headers, 401, 'unauthorized'],
      [code, { authorization: `Bearer ${reading}` }, 403, 'insufficient_scope'],
      [anonymous, {}, 401, 'unauthorized'],
      [anonymous, owner.headers, 401, 'unauthorized'],
      [anonymous, withToken('a guess'), 401, 'unauthorized'],
    ];
    for (const [name, headers, status, problem] of refused)
      expect(await fieldsOf(await patch(name, { title: 'x' }, headers))).toEqual([status, problem]);
    expect((await patch(anonymous, { title: 'x' }, withToken())).status).toBe(200);
    expect(await pasteRow(bed.db, code)).toMatchObject({ title: null });
  });

  it('brings no paste back that has ended, and changes none that reports hold', async () => {
    const [expired, deleted, down, held, failed] = [
      await own(),
      await own(),
      await own(),
      await own(),
      await failedPaste(bed.db, { userId: owner.id }),
    ];
    await expire(bed.db, expired);
    await requestDeletion(bed.db, (await pasteRow(bed.db, deleted))!.id);
    await takeDown(bed.db, [down], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    await sql`UPDATE pastes SET held_at = now() WHERE short_code = ${held}`.execute(bed.db);
    const expected = {
      paste_gone: [expired, deleted],
      paste_taken_down: [down],
      paste_held: [held],
      paste_not_found: [failed, 'n0neOfThem'],
    };
    for (const [problem, codes] of Object.entries(expected))
      for (const code of codes)
        for (const body of [{ expires_in: 'never' }, { title: 'x', expires_in: 3600 }])
          expect(await problemOf(await patch(code, body))).toMatchObject({ code: problem });
    expect((await get(`/v1/pastes/${expired}`)).status).toBe(410);
  });

  it('answers 410 when a deletion comes between the look-up and the change', async () => {
    const code = await own();
    let changed: Promise<Response> | undefined;
    await bed.db.transaction().execute(async (tx) => {
      await requestDeletion(tx, (await pasteRow(tx, code))!.id);
      changed = patch(code, { expires_in: 'never' });
      await untilSomebodyWaits();
    });
    expect(await fieldsOf(await changed!)).toEqual([410, 'paste_gone']);
  });

  it('answers 200 when a deletion comes after the change, which took effect', async () => {
    const code = await own();
    await sql`
      CREATE FUNCTION delete_after_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN UPDATE pastes SET deletion_requested_at = now() WHERE id = NEW.id; RETURN NULL; END $$;
      CREATE TRIGGER delete_after_change AFTER UPDATE OF title ON pastes FOR EACH ROW EXECUTE FUNCTION delete_after_change();`.execute(
      bed.db,
    );
    const answer = await patch(code, { title: 'The last' });
    await sql`DROP FUNCTION delete_after_change CASCADE`.execute(bed.db);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ short_code: code, title: 'The last' });
    expect((await get(`/v1/pastes/${code}`)).status).toBe(410);
  });

  it('of a slug that moves meanwhile answers with the paste that was changed', async () => {
    const slug = `slug-${randomBytes(6).toString('hex')}`;
    const first = await own({ slug });
    const second = await own({ parent: first });
    let changed: Promise<Response> | undefined;
    await bed.db.transaction().execute(async (tx) => {
      const move = { slug, userId: owner.id, from: first, to: second };
      expect(await moveSlug(tx, move, 'api/test')).toBe('moved');
      changed = patch(`~${slug}`, { title: 'Of the first' });
      await untilSomebodyWaits();
    });
    const answer = await changed!;
    expect(await answer.json()).toMatchObject({ short_code: first, title: 'Of the first', slug: null });
    expect(await pasteRow(bed.db, second)).toMatchObject({ slug, title: null });
  });

  it('is refused to pages of other sites', async () => {
    const cookie = await signedInWith(bed.db, owner.token);
    const init = { method: 'PATCH', body: '{"title":"x"}' };
    const foreign = {
      'sec-fetch-site': 'cross-site',
      origin: 'https://evil.example',
      'content-type': 'application/json',
    };
    const answer = await browseAs(bed.api, cookie, `/v1/pastes/${await own()}`, {
      ...init,
      headers: foreign,
    });
    expect(answer.status).toBe(403);
  });
});

describe('readers after a change', () => {
  it('get the new title on the page, whose ETag has changed, and the same bytes with their ETag', async () => {
    const code = await own();
    const page = await get(`/${code}`, BROWSER);
    const bytes = await get(`/${code}`);
    const tags = [page, bytes].map((each) => ({ 'if-none-match': each.headers.get('etag')! }));
    await Promise.all([page.arrayBuffer(), bytes.arrayBuffer()]);
    expect((await get(`/${code}`, { ...BROWSER, ...tags[0] })).status).toBe(304);
    await patch(code, { title: 'A new title' });
    const after = await get(`/${code}`, { ...BROWSER, ...tags[0] });
    expect([after.status, await after.text()]).toEqual([200, expect.stringContaining('A new title')]);
    expect((await get(`/${code}`, tags[1])).status).toBe(304);
  });

  it.each([
    ['as they are', processedPaste],
    ['compressed', compressedPaste],
  ])('find no private paste, whatever they have cached of its bytes %s', async (_name, make) => {
    const text = 'content '.repeat(1000);
    const slug = `slug-${randomBytes(6).toString('hex')}`;
    const code = await make(bed, text, { userId: owner.id, slug });
    const encoding = { 'accept-encoding': 'gzip' };
    const ends = ['', '/history', '/timeline', '/new', '/image'];
    const cached = await get(`/${code}`, encoding);
    const tag = { 'if-none-match': cached.headers.get('etag')! };
    expect(await cached.text()).toBe(text); // in the memory of the process from now on
    expect((await get(`/${code}`, { ...encoding, ...tag })).status).toBe(304);
    await patch(code, { visibility: 'private' });
    for (const name of [code, `~${slug}`])
      for (const end of ends)
        for (const headers of [{}, tag, BROWSER, other.headers])
          expect((await get(`/${name}${end}`, headers)).status).toBe(404);
    const mine = await get(`/${code}`, { ...owner.headers, ...encoding, ...tag });
    expect([mine.status, mine.headers.get('cache-control')]).toEqual([304, 'no-store, no-transform']);
    await patch(code, { visibility: 'unlisted' });
    expect(await (await get(`/~${slug}`)).text()).toBe(text);
  });

  it('see the title of an earlier version in the history', async () => {
    const slug = `slug-${randomBytes(6).toString('hex')}`;
    const first = await own({ slug });
    const second = await own({ parent: first });
    const move = { method: 'PUT', body: JSON.stringify({ short_code: second, from: first }) };
    const headers = { ...owner.headers, 'content-type': 'application/json' };
    expect((await fetch(`${bed.api.url}/v1/slugs/${slug}`, { ...move, headers })).status).toBe(200);
    await patch(first, { title: 'The first' });
    expect(await (await get(`/~${slug}/history`)).text()).toContain('The first');
    await patch(first, { visibility: 'private' });
    expect(await (await get(`/~${slug}/history`)).text()).not.toContain('The first');
  });

  it('can report cleared content again under its new title', async () => {
    const code = await processedPaste(bed, `cleared ${randomBytes(6).toString('hex')}`, { userId: owner.id });
    const report = async () => {
      const init = { method: 'POST', body: '{"reason":"phishing"}' };
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${bed.api.url}/v1/pastes/${code}/reports`, { ...init, headers })).status;
    };
    expect(await report()).toBe(202);
    await rejectReports(bed.db, code, { actor: 'ops/test', reason: 'harmless' });
    expect(await report()).toBe(409);
    await patch(code, { title: 'Your bank' });
    expect(await report()).toBe(202);
  });
});
