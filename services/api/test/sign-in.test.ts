import { beforeAll, describe, expect, it } from '@jest/globals';
import { newApiToken } from '../src/http/callers/secret.ts';
import { ownPath } from '../src/http/pages/page-answers.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { expectLimited, limited } from './support/limits.ts';
import { BROWSER, browseAs, cookieIn } from './support/sign-in.ts';
import { newUser, signedInWith, spentToken, type TestUser } from './support/users.ts';

const bed = useApi();

let user: TestUser;
let cookie: string;
beforeAll(async () => {
  user = await newUser(bed.db, { name: 'anna <b>' });
  cookie = await signedInWith(bed.db, user.token);
});

const signIn = (token: string, more: Record<string, string> = {}, api: RunningApi = bed.api) => {
  const form = ownForm(api.url, { token, ...more });
  return fetch(`${api.url}/session`, {
    ...form,
    headers: { ...BROWSER, ...(form.headers as Record<string, string>) },
    redirect: 'manual',
  });
};

const browse = (path: string, { as = cookie, ...init }: RequestInit & { as?: string } = {}) =>
  browseAs(bed.api, as, path, init);

describe('signing in with a token', () => {
  it('sets a cookie that no script reads and no other site sends', async () => {
    const response = await signIn(user.token, { next: '/abc?x=1' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/abc?x=1']);
    expect(response.headers.get('set-cookie')).toMatch(
      /^pasteflow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect((await browse('/my/pastes', { as: cookieIn(response) })).status).toBe(200);
  });

  it('begins a session of 12 hours, whose secret is neither the token nor in the database', async () => {
    const { id, token } = await newUser(bed.db);
    const [, secretOfOne = ''] = cookieIn(await signIn(token)).split('=');
    await signIn(token);
    const rows = await bed.db.selectFrom('api_tokens').selectAll().where('user_id', '=', id).execute();
    expect(JSON.stringify(rows)).not.toContain(secretOfOne);
    const sessions = rows.filter(({ is_session }) => is_session);
    const hours = sessions.map(({ created_at, expires_at }) => (+expires_at! - +created_at) / 3_600_000);
    expect(hours).toEqual([12, 12]);
    expect(new Set(sessions.map(({ token_hash }) => token_hash.toString('hex'))).size).toBe(2);
  });

  it('ends the session that the browser had before, of whichever user', async () => {
    const { token } = await newUser(bed.db);
    const before = cookieIn(await signIn(token));
    const form = ownForm(bed.api.url, { token: user.token });
    const again = await browse('/session', {
      ...form,
      headers: form.headers as Record<string, string>,
      as: before,
    });
    expect((await browse('/my/pastes', { as: before })).status).toBe(401);
    expect((await browse('/my/pastes', { as: cookieIn(again) })).status).toBe(200);
  });

  it('sets a cookie of this host only, when the service is reached by https', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org' } });
    const response = await fetch(`${api.url}/session`, {
      ...ownForm('https://paste.example.org', { token: user.token }),
      redirect: 'manual',
    });
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-pasteflow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const asked = (as: string) =>
      fetch(`${api.url}/v1/pastes`, { headers: { cookie: as, 'sec-fetch-site': 'same-origin' } });
    expect((await asked(cookieIn(response))).status).toBe(200);
    expect((await asked(cookieIn(response).replace('__Host-', ''))).status).toBe(401);
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

  it('writes neither the token nor the cookie into a log line', async () => {
    const { token } = await newUser(bed.db);
    const as = cookieIn(await signIn(token));
    await browse('/', { as });
    for (const each of [token, as.split('=')[1]!]) expect(JSON.stringify(bed.api.logs)).not.toContain(each);
  });
});
