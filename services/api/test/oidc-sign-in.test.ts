import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import { limited } from './support/limits.ts';
import { processedPaste } from './support/pastes.ts';
import {
  BROWSER,
  beginSignIn,
  callBack,
  cookieIn,
  sessionIn,
  signInAtProvider,
  startOidcApi,
} from './support/sign-in.ts';

const bed = useApi();
let issuer: OidcIssuer;
let api: RunningApi;

const settings = () => ({
  OIDC_ISSUER: issuer.url,
  OIDC_CLIENT_ID: 'pasteflow',
  OIDC_CLIENT_SECRET: 'of pasteflow',
});

beforeAll(async () => {
  for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
  issuer = await OidcIssuer.start([]);
});
afterAll(() => issuer?.down());
beforeEach(async () => {
  api = await startOidcApi(bed, issuer);
});

/** Signs a browser in. */
async function signIn(name: string, next?: string): Promise<Response> {
  const begun = await beginSignIn(api, next);
  return await callBack(api, await signInAtProvider(issuer, begun, { name }), begun.cookie);
}

const browse = (path: string, token: string, init: RequestInit = {}) =>
  fetch(api.url + path, {
    redirect: 'manual',
    ...init,
    headers: {
      ...BROWSER,
      cookie: `pasteflow=${token}`,
      'sec-fetch-site': 'same-origin',
      ...(init.headers as Record<string, string> | undefined),
    },
  });

const sessionsOf = (name: string) =>
  bed.db
    .selectFrom('api_tokens')
    .innerJoin('users', 'users.id', 'user_id')
    .where('users.name', '=', `${issuer.url}#${name}`)
    .select(['api_tokens.id', 'expires_at', 'revoked_at', 'is_session'])
    .execute();

describe('signing in at the identity provider', () => {
  it('begins with a request that only this browser can finish', async () => {
    const response = await fetch(`${api.url}/session/oidc?next=/x`, {
      headers: { ...BROWSER, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
    expect(response.status).toBe(303);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^pasteflow-sign-in=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/),
    ]);
    expect(Object.fromEntries(new URL(response.headers.get('location')!).searchParams)).toEqual({
      client_id: 'pasteflow',
      response_type: 'code',
      scope: 'openid profile',
      redirect_uri: `${api.url}/session/oidc/callback`,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('ends on a page that goes on by itself, with a cookie for 12 hours that no other site sends', async () => {
    const response = await signIn('anna', '/my/jobs?status=failed');
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(
      '<meta http-equiv="refresh" content="0; url=/my/jobs?status=failed">',
    );
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.getSetCookie()).toEqual([
      'pasteflow-sign-in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
      expect.stringMatching(/^pasteflow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    const [session] = await sessionsOf('anna');
    const hours = (session!.expires_at!.getTime() - Date.now()) / 3_600_000;
    expect(session!.is_session).toBe(true);
    expect(Math.round(hours)).toBe(12);
  });

  it('is finished in each of two tabs, of which the older one comes back first or last', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const older = await beginSignIn(api, '/my/jobs');
      const newer = await beginSignIn(api, '/my/pastes', { cookie: older.cookie });
      const tabs = [older, newer];
      let cookie = newer.cookie;
      for (const [nth, tab] of order.entries()) {
        const query = await signInAtProvider(issuer, tabs[tab]!, { name: `tab ${tab}` });
        const response = await callBack(api, query, cookie);
        expect([order, tab, response.status]).toEqual([order, tab, 200]);
        expect(await response.text()).toContain(tab === 0 ? 'url=/my/jobs"' : 'url=/my/pastes"');
        expect((await callBack(api, query, cookieIn(response))).status).toBe(401); // it is used up
        cookie = cookieIn(response);
        expect(cookie === 'pasteflow-sign-in=').toBe(nth === 1);
      }
    }
  });

  it('keeps the newest of many tabs in a cookie that a browser keeps', async () => {
    let { cookie } = await beginSignIn(api, `/${'x'.repeat(1500)}`);
    for (let tabs = 0; tabs < 9; tabs += 1)
      ({ cookie } = await beginSignIn(api, `/${'x'.repeat(1500)}`, { cookie }));
    expect(cookie.length).toBeLessThan(4000);
    expect(cookie.split('~').length).toBeLessThanOrEqual(4);
  });

  it('makes the browser the same user as an access token of the provider', async () => {
    const token = sessionIn(await signIn('ben'))!;
    const markup = await (await browse('/', token)).text();
    expect(markup).toContain('<bdi>ben</bdi>');
    const { id } = await bed.db
      .selectFrom('users')
      .select('id')
      .where('name', '=', `${issuer.url}#ben`)
      .executeTakeFirstOrThrow();
    const secret = await processedPaste(bed, 'for ben', { userId: id, visibility: 'private' });
    expect(await (await browse(`/v1/pastes/${secret}/content`, token)).text()).toBe('for ben');
  });

  it('works for a public client, which has no secret', async () => {
    const open = await bed.start({ env: { ...settings(), OIDC_CLIENT_ID: 'open', OIDC_CLIENT_SECRET: '' } });
    await issuer.register({ id: 'open', redirectUri: `${open.url}/session/oidc/callback` });
    const begun = await beginSignIn(open);
    const query = await signInAtProvider(issuer, begun, { name: 'cleo' });
    expect(sessionIn(await callBack(open, query, begun.cookie))).toMatch(/^[\w-]{43}$/);
  });

  it('has cookies of this host only, when the service is reached by https', async () => {
    const behindProxy = await bed.start({
      env: { ...settings(), PUBLIC_URL: 'https://paste.example.org/p' },
    });
    const response = await fetch(`${behindProxy.url}/session/oidc`, {
      headers: { 'sec-fetch-site': 'none' },
      redirect: 'manual',
    });
    const { searchParams } = new URL(response.headers.get('location')!);
    expect(searchParams.get('redirect_uri')).toBe('https://paste.example.org/p/session/oidc/callback');
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-pasteflow-sign-in=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    );
  });

  it('is offered on the page to sign in, and only where the operator has set it up', async () => {
    const instance = await (await fetch(`${api.url}/v1/instance`)).json();
    expect(instance).toMatchObject({ sign_in: ['token', 'oidc'] });
    const link = `href="/session/oidc?next=%2Fmy%2Fpastes">Sign in with ${new URL(issuer.url).host}</a>`;
    expect(await (await fetch(`${api.url}/session`, { headers: BROWSER })).text()).toContain(link);
    expect(await (await fetch(`${bed.api.url}/session`, { headers: BROWSER })).text()).not.toContain(
      'session/oidc',
    );
    for (const path of ['/session/oidc', '/session/oidc/callback?state=x&code=y'])
      expect((await fetch(bed.api.url + path, { redirect: 'manual' })).status).toBe(404);
  });

  it('is not begun by a link of another site', async () => {
    const response = await fetch(`${api.url}/session/oidc?next=/abc`, {
      headers: { ...BROWSER, 'sec-fetch-site': 'cross-site' },
      redirect: 'manual',
    });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/session?next=%2Fabc']);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it.each(['//evil.example', 'https://evil.example/', '/\\evil.example', '/..//evil.example'])(
    'goes to no other site afterwards: %s',
    async (next) => {
      expect(await (await signIn('dora', next)).text()).toContain('content="0; url=/my/pastes"');
    },
  );

  it('goes to no other site afterwards when the cookie was changed', async () => {
    const begun = await beginSignIn(api);
    const query = await signInAtProvider(issuer, begun, { name: 'dora' });
    const evil = Buffer.from('//evil.example').toString('base64url');
    const response = await callBack(api, query, begun.cookie.replace(/\.[^.]*$/, `.${evil}`));
    expect(await response.text()).toContain('content="0; url=/my/pastes"');
  });

  it('writes no code, state, cookie or token into the log', async () => {
    const begun = await beginSignIn(api);
    const query = await signInAtProvider(issuer, begun, { name: 'emil' });
    const token = sessionIn(await callBack(api, query, begun.cookie))!;
    await callBack(api, query, begun.cookie);
    await browse('/', token);
    const logs = JSON.stringify(api.logs);
    for (const secret of [query.code!, begun.state, begun.nonce, begun.cookie.split('=')[1]!, token])
      expect(logs).not.toContain(secret);
  });
});

describe('a browser that the identity provider has signed in', () => {
  it('ends its session by signing out, and leaves the user’s other sessions', async () => {
    const [one, other] = [sessionIn(await signIn('fred'))!, sessionIn(await signIn('fred'))!];
    const out = await browse('/session/end', one, ownForm(api.url, {}));
    expect(out.headers.getSetCookie()).toEqual(['pasteflow=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0']);
    expect((await browse('/my/pastes', one)).status).toBe(401);
    expect((await browse('/my/pastes', other)).status).toBe(200);
  });

  it('ends its session when it has signed in again, and not before', async () => {
    const before = sessionIn(await signIn('frida'))!;
    const begun = await beginSignIn(api, '/my/pastes', { cookie: `pasteflow=${before}` });
    expect((await browse('/my/pastes', before)).status).toBe(200);
    const query = await signInAtProvider(issuer, begun, { name: 'frida' });
    const after = sessionIn(await callBack(api, query, begun.cookie))!;
    expect((await browse('/my/pastes', before)).status).toBe(401);
    expect((await browse('/my/pastes', after)).status).toBe(200);
  });

  it('sees that the identity provider signed it in', async () => {
    const markup = await (await browse('/my/sessions', sessionIn(await signIn('finn'))!)).text();
    expect(markup).toContain(`<span>By ${new URL(issuer.url).host}</span>`);
  });

  it('is signed out by the operator, who revokes the session', async () => {
    const token = sessionIn(await signIn('gina'))!;
    const [session] = await sessionsOf('gina');
    await bed.db
      .updateTable('api_tokens')
      .set({ revoked_at: new Date() })
      .where('id', '=', session!.id)
      .execute();
    const response = await browse('/my/pastes', token);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('your token has expired or was revoked');
  });

  it('shares the limits of its user’s other sessions', async () => {
    const [one, other] = [sessionIn(await signIn('hugo'))!, sessionIn(await signIn('hugo'))!];
    api = await startOidcApi(bed, issuer, { env: limited({ requests: 1000 }) });
    const left = async (token: string) =>
      Number(/;r=(\d+)/.exec((await browse('/v1/pastes', token)).headers.get('ratelimit')!)?.[1]);
    expect([await left(one), await left(other)]).toEqual([999, 998]);
  });
});
