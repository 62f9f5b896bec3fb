import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';
import { browseAs, BROWSER, cookieIn } from './support/sign-in.ts';
import { newUser, revokeTokens, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();

let user: TestUser;
let cookie: string;
let secret: string;
beforeAll(async () => {
  user = await newUser(bed.db, { name: 'anna <b>' });
  cookie = await signedInWith(bed.db, user.token);
  secret = await processedPaste(bed, 'for my eyes', { userId: user.id, visibility: 'private' });
});

/** A request of a browser that is signed in, from a page of the service unless it says otherwise. */
const browse = (path: string, { as = cookie, ...init }: RequestInit & { as?: string } = {}) =>
  browseAs(bed.api, as, path, init);

describe('a browser that is signed in', () => {
  it('reads a private paste of its user, as a page and as bytes', async () => {
    const page = await browse(`/${secret}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('for my eyes');
    const raw = await browse(`/v1/pastes/${secret}/content`, { headers: { accept: '*/*' } });
    expect(await raw.text()).toBe('for my eyes');
    const typed = await browse(`/${secret}`, { headers: { 'sec-fetch-site': 'none' } });
    expect(typed.status).toBe(200);
  });

  it('sees on every page who is signed in', async () => {
    const public_ = await processedPaste(bed, 'x');
    for (const path of ['/', `/${public_}`, `/${public_}/timeline`, '/missing123', '/no/such/path']) {
      const markup = await (await browse(path)).text();
      expect([path, markup.includes('<bdi>anna &lt;b&gt;</bdi>')]).toEqual([path, true]);
    }
    expect(await (await browse('/', { headers: { cookie: '' } })).text()).toContain('href="/session"');
  });

  it('is left out of every cache', async () => {
    const code = await processedPaste(bed, 'x');
    const anonymous = await fetch(`${bed.api.url}/${code}`, { headers: BROWSER });
    for (const path of ['/', `/${code}`, `/${code}/timeline`, `/v1/pastes/${code}/content`, '/v1/pastes']) {
      const { status, headers } = await browse(path);
      expect([path, status, headers.get('cache-control')?.startsWith('private, no-store')]).toEqual([
        path,
        200,
        true,
      ]);
    }
    // A page from before the sign-in is not shown after it.
    const known = { 'if-none-match': anonymous.headers.get('etag')! };
    expect((await browse(`/${code}`, { headers: known })).status).toBe(200);
  });

  it.each([
    ['of another site', 'cross-site'],
    ['of another host of the domain', 'same-site'],
    ['of a browser that tells no site', ''],
  ])('is nobody in a request %s', async (_name, site) => {
    const headers = { 'sec-fetch-site': site, accept: '*/*' };
    expect((await browse(`/${secret}`, { headers })).status).toBe(404);
    expect((await browse('/v1/pastes', { headers })).status).toBe(401);
  });

  it('writes only from a page of the service', async () => {
    const create = (origin: Record<string, string>) =>
      browse('/v1/pastes', {
        method: 'POST',
        body: 'x',
        headers: { accept: '*/*', 'content-type': 'text/plain', ...origin },
      });
    const own = await create({ origin: bed.api.url });
    expect(await own.json()).not.toHaveProperty('delete_token');
    expect(await (await create({})).json()).toHaveProperty('delete_token'); // nobody's
    for (const origin of ['null', 'https://evil.example'])
      expect((await create({ origin })).status).toBe(403);
  });

  it('uses the token of the Authorization header, where there is one', async () => {
    const other = await newUser(bed.db);
    const headers = { ...other.headers, accept: '*/*' };
    expect((await browse(`/${secret}`, { headers })).status).toBe(404);
    const wrong = await browse(`/${secret}`, { headers: { authorization: 'Bearer wrong', accept: '*/*' } });
    expect(wrong.status).toBe(401);
  });

  it('is offered a private paste, and deletes its pastes without a token', async () => {
    expect(await (await browse('/')).text()).toContain('<option value="private">');
    const code = await processedPaste(bed, 'x', { userId: user.id, visibility: 'unlisted' });
    const remove = (as: string, origin: string) => {
      const form = new FormData();
      return browse(`/${code}/delete`, { method: 'POST', body: form, as, headers: { origin } });
    };
    const ofAnother = await signedInWith(bed.db, (await newUser(bed.db)).token);
    expect((await remove(cookie, 'https://evil.example')).status).toBe(403);
    expect((await remove(ofAnother, bed.api.url)).status).toBe(401);
    expect((await remove(cookie, bed.api.url)).status).toBe(200);
    expect((await browse(`/${code}`)).status).toBe(410);
  });

  it('gets the page to sign in, with the reason, once its token is revoked', async () => {
    const { id, token } = await newUser(bed.db);
    const as = await signedInWith(bed.db, token);
    expect((await browse('/', { as })).status).toBe(200);
    await revokeTokens(bed.db, id);
    for (const path of ['/', `/${secret}?x=1`, '/no/such/path']) {
      const response = await browse(path, { as });
      expect([path, response.status]).toEqual([path, 401]);
      const markup = await response.text();
      expect(markup).toContain('your token has expired or was revoked');
      expect(markup).toContain(`name="next" value="${path}"`);
    }
    bed.api.undocumented.splice(0); // an unknown path has no answers in the document but 404
    const json = await browse('/v1/pastes', { as, headers: { accept: '*/*' } });
    expect((await problemOf(json)).code).toBe('unauthorized');
  });

  it('signs in again while its session has ended', async () => {
    const { id, token } = await newUser(bed.db);
    const as = await signedInWith(bed.db, token);
    await revokeTokens(bed.db, id);
    const form = ownForm(bed.api.url, { token: user.token });
    const response = await browse('/session', {
      ...form,
      headers: form.headers as Record<string, string>,
      as,
    });
    expect((await browse('/my/pastes', { as: cookieIn(response) })).status).toBe(200);
  });

  it('signs out: its cookie is good for nothing, from anywhere, and its token stays good', async () => {
    const { token, headers: ofToken } = await newUser(bed.db);
    const as = await signedInWith(bed.db, token);
    await browse('/session/end', { method: 'POST', headers: { origin: bed.api.url }, as });
    expect((await browse('/my/pastes', { as })).status).toBe(401);
    const list = (headers: Record<string, string>) => fetch(`${bed.api.url}/v1/pastes`, { headers });
    expect((await list({ authorization: `Bearer ${as.split('=')[1]}` })).status).toBe(401);
    expect((await list(ofToken)).status).toBe(200);
  });

  it.each([
    [
      'the secret of a session in the Authorization header',
      () => ({ authorization: `Bearer ${cookie.split('=')[1]}` }),
    ],
    ['an API token in the cookie', () => ({ cookie: `pasteflow=${user.token}` })],
  ])('is nobody with %s', async (_name, headers) => {
    const answer = await fetch(`${bed.api.url}/v1/pastes`, {
      headers: { 'sec-fetch-site': 'same-origin', ...headers() },
    });
    expect(answer.status).toBe(401);
  });

  it('signs out, also when its session has ended', async () => {
    const headers = { origin: bed.api.url };
    const path = '/session/end?next=%2Fabc';
    const response = await browse(path, { method: 'POST', headers, as: 'pasteflow=of-nobody' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/abc']);
    expect(response.headers.get('set-cookie')).toBe(
      'pasteflow=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    );
  });

  it('signs out, and clears the storage of the origin only where the service has an origin of its own', async () => {
    const below = await bed.start({ env: { PUBLIC_URL: `${bed.api.url}/paste` } });
    for (const [{ url }, expected] of [
      [bed.api, '"storage"'],
      [below, null],
    ] as const) {
      const form = { ...ownForm(bed.api.url, {}), redirect: 'manual' as const };
      const response = await fetch(`${url}/session/end`, form);
      expect([response.status, response.headers.get('clear-site-data')]).toEqual([303, expected]);
    }
  });
});

describe('a browser that is not signed in', () => {
  it('is told to sign in where a private paste may be', async () => {
    const page = await fetch(`${bed.api.url}/${secret}`, { headers: BROWSER });
    expect(page.status).toBe(404);
    expect(await page.text()).toContain(`href="/session?next=%2F${secret}"`);
  });

  it('can send the forms of every page, because a page says where they come from', async () => {
    for (const path of ['/', '/session', `/${secret}`]) {
      const { headers } = await fetch(bed.api.url + path, { headers: BROWSER });
      expect([path, headers.get('referrer-policy')]).toEqual([path, 'same-origin']);
    }
  });
});

describe('/my/sessions', () => {
  const browse = (path: string, { as, ...init }: RequestInit & { as: string }) =>
    browseAs(bed.api, as, path, init);

  const rowsOf = async (as: string) => {
    const markup = await (await browse('/my/sessions', { as })).text();
    return [...markup.matchAll(/<li><div>(.*?)<\/li>/gs)].map(([, row = '']) => [
      row,
      /class="line"><span>(.*?)<\/span>/.exec(row)?.[1],
      />This browser</.exec(row)?.[0],
      /value="([^"]+)"/.exec(row)?.[1],
    ]);
  };
  const end = (session: string, as: string, headers: Record<string, string> = { origin: bed.api.url }) =>
    browse('/my/sessions/end', { method: 'POST', headers, as, body: new URLSearchParams({ session }) });
  const statusOf = async (as: string) => (await browse('/my/pastes', { as })).status;
  /** A user who is signed in in this many browsers. */
  const browsers = async (count: number) => {
    const { token } = await newUser(bed.db);
    return await Promise.all(Array.from({ length: count }, () => signedInWith(bed.db, token)));
  };

  it('lists the sessions of the user with the token of each, and marks that of this browser', async () => {
    const [one] = await browsers(2);
    const rows = await rowsOf(one!);
    expect(rows.map(([, way]) => way)).toEqual(Array(2).fill('With the token <bdi>of a test</bdi>'));
    expect(rows.filter(([, , mark]) => mark === '>This browser<')).toHaveLength(1);
  });

  it('ends a session at once', async () => {
    const [mine, other] = await browsers(2);
    const [, , , id = ''] = (await rowsOf(mine!)).find(([, , , value]) => value !== undefined)!;
    const answer = await end(id, mine!);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/my/sessions']);
    expect([await statusOf(mine!), await statusOf(other!)]).toEqual([200, 401]);
  });

  it('ends all others', async () => {
    const [mine, ...others] = await browsers(3);
    const stranger = await signedInWith(bed.db, (await newUser(bed.db)).token);
    await end('others', mine!);
    expect(await Promise.all([mine!, stranger, ...others].map(statusOf))).toEqual([200, 200, 401, 401]);
  });

  it('of a token that its user has made ends only what this token has begun', async () => {
    const { token, headers } = await newUser(bed.db);
    const full = await signedInWith(bed.db, token);
    const made = await fetch(`${bed.api.url}/v1/tokens`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'laptop', scope: 'write' }),
    });
    const { token: own } = (await made.json()) as { token: string };
    const [mine, other] = [await signedInWith(bed.db, own), await signedInWith(bed.db, own)];
    const idOf = async (way: string) =>
      (await rowsOf(mine)).find(([, name, , value]) => value !== undefined && name!.includes(way))![3]!;
    expect((await end(await idOf('of a test'), mine)).status).toBe(403);
    expect((await end('others', mine)).status).toBe(303);
    expect(await Promise.all([full, mine, other].map(statusOf))).toEqual([200, 200, 401]);
    const third = await signedInWith(bed.db, own);
    expect((await end(await idOf('laptop'), mine)).status).toBe(303);
    expect(await Promise.all([full, third].map(statusOf))).toEqual([200, 401]);
  });

  it('ends neither another user’s session nor anything for a page of another site', async () => {
    const [mine, ofAnother] = [(await browsers(1))[0]!, await browsers(2)];
    const [, , , id = ''] = (await rowsOf(ofAnother[0]!)).find(([, , , value]) => value !== undefined)!;
    expect((await end(id, mine)).status).toBe(303);
    expect((await end('others', ofAnother[0]!, { origin: 'https://evil.example' })).status).toBe(403);
    expect(await Promise.all(ofAnother.map(statusOf))).toEqual([200, 200]);
    expect((await end('1 OR true', mine)).status).toBe(422);
  });
});
