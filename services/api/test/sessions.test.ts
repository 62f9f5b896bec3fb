import { beforeAll, describe, expect, it } from '@jest/globals';
import { newApiToken } from '../src/identity/api-token.ts';
import { ownPath } from '../src/site/own-path.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm } from './support/forms.ts';
import { problemOf } from './support/http.ts';
import { expectLimited, limited } from './support/limits.ts';
import { processedPaste } from './support/pastes.ts';
import { newUser, revokeTokens, spentToken, type TestUser } from './support/users.ts';

const bed = useApi();
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let user: TestUser;
let secret: string;
beforeAll(async () => {
  user = await newUser(bed.db, { name: 'anna <b>' });
  secret = await processedPaste(bed, 'for my eyes', { userId: user.id, visibility: 'private' });
});

const signIn = (token: string, more: Record<string, string> = {}, api: RunningApi = bed.api) => {
  const form = ownForm(api.url, { token, ...more });
  return fetch(`${api.url}/session`, {
    ...form,
    headers: { ...BROWSER, ...(form.headers as Record<string, string>) },
    redirect: 'manual',
  });
};

/** A request of a browser that is signed in, from a page of the service unless it says otherwise. */
const browse = (
  path: string,
  { headers = {}, token = user.token, ...init }: RequestInit & { token?: string } = {},
) =>
  fetch(bed.api.url + path, {
    redirect: 'manual',
    ...init,
    headers: {
      ...BROWSER,
      cookie: `other=1; pasteflow=${token}; last=2`,
      'sec-fetch-site': 'same-origin',
      ...(headers as Record<string, string>),
    },
  });

describe('signing in with a token', () => {
  it('sets a cookie that no script reads and no other site sends', async () => {
    const response = await signIn(user.token, { next: `/${secret}?x=1` });
    expect([response.status, response.headers.get('location')]).toEqual([303, `/${secret}?x=1`]);
    expect(response.headers.get('set-cookie')).toBe(
      `pasteflow=${user.token}; Path=/; HttpOnly; SameSite=Strict`,
    );
  });

  it('sets a cookie of this host only, when the service is reached by https', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org' } });
    const response = await fetch(`${api.url}/session`, {
      ...ownForm('https://paste.example.org', { token: user.token }),
      redirect: 'manual',
    });
    expect(response.headers.get('set-cookie')).toBe(
      `__Host-pasteflow=${user.token}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    const asked = (name: string) =>
      fetch(`${api.url}/v1/pastes`, {
        headers: { cookie: `${name}=${user.token}`, 'sec-fetch-site': 'same-origin' },
      });
    expect((await asked('__Host-pasteflow')).status).toBe(200);
    expect((await asked('pasteflow')).status).toBe(401);
  });

  it.each([
    ['unknown', () => Promise.resolve(newApiToken())],
    ['expired', () => spentToken(bed.db, user.id, 'expired')],
    ['revoked', () => spentToken(bed.db, user.id, 'revoked')],
    ['malformed', () => Promise.resolve('pf_; Max-Age=9')],
    ['empty', () => Promise.resolve('')],
  ] as const)('refuses an %s token on the page, and keeps where to go', async (_name, make) => {
    const response = await signIn(await make(), { next: '/here' });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
    const markup = await response.text();
    expect(markup).toContain('This token is not valid');
    expect(markup).toContain('name="next" value="/here"');
  });

  it('refuses a token that no cookie can hold', async () => {
    expect((await signIn('x'.repeat(3901))).status).toBe(422);
  });

  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['of another host of the domain', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
    ['without Origin', { 'sec-fetch-site': 'same-origin' }],
    ['with a hidden Origin', { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    ['with another Origin', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1:1' }],
    ['of a browser that tells no site', {}],
  ] as const)('refuses a form %s', async (_name, headers) => {
    for (const path of ['/session', '/session/end']) {
      const response = await fetch(bed.api.url + path, {
        method: 'POST',
        headers: { ...headers },
        body: new URLSearchParams({ token: user.token }),
      });
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(await problemOf(response)).toMatchObject({ status: 403, code: 'cross_site_request' });
    }
  });

  it('refuses a form of another site on a page, for a browser', async () => {
    for (const path of ['/session', '/session/end']) {
      const response = await fetch(bed.api.url + path, {
        method: 'POST',
        headers: { ...BROWSER, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      });
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        403,
        'text/html; charset=utf-8',
      ]);
      expect(await response.text()).toContain('The form was not sent from a page of this service');
    }
  });

  it('counts wrong tokens as guesses, together with those in headers', async () => {
    const api = await bed.start({ env: limited({ misses: 3 }) });
    await signIn(newApiToken(), {}, api);
    await signIn(newApiToken(), {}, api);
    await fetch(`${api.url}/v1/pastes`, { headers: { authorization: `Bearer ${newApiToken()}` } });
    expect((await signIn(newApiToken(), {}, api)).status).toBe(429);
    await expectLimited(
      await fetch(`${api.url}/session`, ownForm(api.url, { token: newApiToken() })),
      'misses',
    );
  });

  it('goes to no other site afterwards', () => {
    for (const text of [
      '//evil.example',
      '/\\evil.example',
      '/..//evil.example/',
      'https://evil.example/',
      'javascript:alert(1)',
      '/\t/evil.example',
      `/${'x'.repeat(3000)}`,
      '',
    ])
      expect(ownPath(text, '')).toBe('/my/pastes');
    expect(ownPath('/my/jobs?status=failed#x', '')).toBe('/my/jobs?status=failed');
    expect(ownPath('/other', '/p')).toBe('/p/my/pastes');
    expect(ownPath('/p/../other', '/p')).toBe('/p/my/pastes');
    expect(ownPath('/p/abc', '/p')).toBe('/p/abc');
  });

  it('writes the token into no log line', async () => {
    const { token } = await newUser(bed.db);
    await signIn(token);
    await browse('/', { token });
    expect(JSON.stringify(bed.api.logs)).not.toContain(token);
  });
});

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
    for (const origin of [{}, { origin: 'null' }, { origin: 'https://evil.example' }])
      expect(await (await create(origin)).json()).toHaveProperty('delete_token'); // nobody's
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
    const remove = (token: string, origin: string) => {
      const form = new FormData();
      return browse(`/${code}/delete`, { method: 'POST', body: form, token, headers: { origin } });
    };
    expect((await remove(user.token, 'https://evil.example')).status).toBe(401);
    expect((await remove((await newUser(bed.db)).token, bed.api.url)).status).toBe(401);
    expect((await remove(user.token, bed.api.url)).status).toBe(200);
    expect((await browse(`/${code}`)).status).toBe(410);
  });

  it('gets the page to sign in, with the reason, once its token is revoked', async () => {
    const { id, token } = await newUser(bed.db);
    expect((await browse('/', { token })).status).toBe(200);
    await revokeTokens(bed.db, id);
    for (const path of ['/', `/${secret}?x=1`, '/no/such/path']) {
      const response = await browse(path, { token });
      expect([path, response.status]).toEqual([path, 401]);
      const markup = await response.text();
      expect(markup).toContain('your token has expired or was revoked');
      expect(markup).toContain(`name="next" value="${path}"`);
    }
    bed.api.undocumented.splice(0); // an unknown path has no answers in the document but 404
    const json = await browse('/v1/pastes', { token, headers: { accept: '*/*' } });
    expect((await problemOf(json)).code).toBe('unauthorized');
  });

  it('signs in again while its cookie has a token that is no longer good', async () => {
    const { id, token } = await newUser(bed.db);
    await revokeTokens(bed.db, id);
    const form = ownForm(bed.api.url, { token: user.token });
    const response = await browse('/session', {
      ...form,
      headers: form.headers as Record<string, string>,
      token,
    });
    expect(response.headers.get('set-cookie')).toContain(`pasteflow=${user.token};`);
  });

  it('signs out, also with a token that is no longer good', async () => {
    const headers = { origin: bed.api.url };
    const path = '/session/end?next=%2Fabc';
    const response = await browse(path, { method: 'POST', headers, token: newApiToken() });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/abc']);
    expect(response.headers.get('set-cookie')).toBe(
      'pasteflow=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    );
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
