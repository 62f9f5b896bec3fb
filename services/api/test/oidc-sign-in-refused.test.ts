import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { useApi, type RunningApi } from './support/api.ts';
import {
  answerJson,
  beginSignIn,
  callBack,
  sessionIn,
  signInAtProvider,
  startOidcApi,
  type BegunSignIn,
} from './support/sign-in.ts';

const bed = useApi();
let issuer: OidcIssuer;
let stranger: OidcIssuer;
let api: RunningApi;

beforeAll(async () => {
  for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
  issuer = await OidcIssuer.start([]);
  stranger = await OidcIssuer.start([]);
});
afterAll(async () => {
  for (const each of [issuer, stranger]) await each?.down();
});
beforeEach(async () => {
  api = await startOidcApi(bed, issuer);
});
afterEach(() => issuer.instead.clear());

/** How many requests the provider's token endpoint has got. */
const redemptions = () => issuer.requests.filter((path) => path === '/token').length;

async function expectRefused(response: Response, reason: string): Promise<void> {
  expect(sessionIn(response)).toBeUndefined();
  expect(response.status).toBe(401);
  const markup = await response.text();
  expect(markup).toContain(reason);
  expect(markup).toContain('<h1>Sign in</h1>');
  expect(markup).not.toContain('action="/language"'); // the callback can't be shown again
}

const NOT_BEGUN_HERE = 'This browser did not begin this sign-in';
const NOT_VALID = 'The answer of the identity provider is not valid for this sign-in.';
const USED = 'says that this sign-in has expired or was used before';

describe('the callback refuses, without asking the provider,', () => {
  it('an answer without a sign-in of this browser', async () => {
    const begun = await beginSignIn(api);
    const query = await signInAtProvider(issuer, begun, { name: 'anna' });
    const before = redemptions();
    await expectRefused(await callBack(api, query, null), NOT_BEGUN_HERE);
    await expectRefused(await callBack(api, query, 'pasteflow-sign-in=x'), NOT_BEGUN_HERE);
    expect(redemptions()).toBe(before);
  });

  it('an answer for another browser, and leaves the sign-in of this one', async () => {
    const [mine, other] = [await beginSignIn(api), await beginSignIn(api)];
    const query = await signInAtProvider(issuer, other, { name: 'mallory' });
    const before = redemptions();
    const response = await callBack(api, query, mine.cookie);
    expect(response.headers.getSetCookie()).toEqual([]);
    await expectRefused(response, NOT_BEGUN_HERE);
    expect(redemptions()).toBe(before);
    const own = await signInAtProvider(issuer, mine, { name: 'anna' });
    expect(sessionIn(await callBack(api, own, mine.cookie))).toMatch(/^[\w-]{43}$/);
  });

  it.each([
    ['in the name of another provider', { iss: 'https://evil.example' }],
    ['without the name of the provider, which this one always sends', { iss: undefined }],
  ])('an answer %s', async (_name, change) => {
    const begun = await beginSignIn(api);
    const query = { ...(await signInAtProvider(issuer, begun, { name: 'anna' })), ...change };
    const sent = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    const before = redemptions();
    await expectRefused(await callBack(api, sent as Record<string, string>, begun.cookie), NOT_VALID);
    expect(redemptions()).toBe(before);
  });

  it('an answer with parameters twice or without a state', async () => {
    const begun = await beginSignIn(api);
    for (const query of [`state=${begun.state}&code=a&code=b`, 'code=a']) {
      const response = await fetch(`${api.url}/session/oidc/callback?${query}`, {
        headers: { cookie: begun.cookie },
      });
      expect(response.status).toBe(422);
    }
  });

  it('an error of the provider, whose texts it does not show', async () => {
    const begun = await beginSignIn(api);
    const query = await signInAtProvider(issuer, begun, { denied: 'yes' });
    expect(query.error_description).toBe('<b>No</b>');
    const response = await callBack(api, query, begun.cookie);
    expect(response.headers.getSetCookie()).toEqual([expect.stringContaining('pasteflow-sign-in=; ')]);
    const markup = await response.clone().text();
    await expectRefused(response, 'The sign-in was cancelled, or the identity provider did not allow it.');
    expect(markup).not.toContain('No</b>');
    expect(JSON.stringify(api.logs)).not.toContain('<b>');
  });

  it('an error with markup as its code', async () => {
    const begun = await beginSignIn(api);
    const error = '<script>alert(1)</script>';
    const query = { error, error_description: error, error_uri: 'javascript:alert(1)', iss: issuer.url };
    const response = await callBack(api, { ...query, state: begun.state }, begun.cookie);
    const markup = await response.clone().text();
    await expectRefused(response, 'The identity provider answered with an error.');
    expect(markup).not.toMatch(/alert\(1\)/);
  });
});

describe('the provider refuses', () => {
  it('a code that was redeemed before', async () => {
    const begun = await beginSignIn(api);
    const query = await signInAtProvider(issuer, begun, { name: 'anna' });
    expect(sessionIn(await callBack(api, query, begun.cookie))).toMatch(/^[\w-]{43}$/);
    await expectRefused(await callBack(api, query, begun.cookie), USED);
  });

  it('one of two redemptions of a code at once', async () => {
    const begun = await beginSignIn(api);
    const query = await signInAtProvider(issuer, begun, { name: 'anna' });
    const responses = await Promise.all([1, 2].map(() => callBack(api, query, begun.cookie)));
    expect(responses.filter((each) => sessionIn(each) !== undefined).length).toBeLessThanOrEqual(1);
  });

  it('a code of another client', async () => {
    const begun = await beginSignIn(api);
    const url = new URL(begun.url);
    url.searchParams.set('client_id', 'another');
    const query = await signInAtProvider(issuer, { ...begun, url }, { name: 'mallory' });
    await expectRefused(await callBack(api, query, begun.cookie), USED);
  });

  it('a code of another browser, though its state was changed to that of this one', async () => {
    const [mine, other] = [await beginSignIn(api), await beginSignIn(api)];
    const query = await signInAtProvider(issuer, other, { name: 'mallory' });
    await expectRefused(await callBack(api, { ...query, state: mine.state }, mine.cookie), USED);
  });
});

/** The provider's token endpoint answers with this ID token. */
async function redeem(begun: BegunSignIn, idToken: string | undefined, more: object = {}): Promise<Response> {
  issuer.instead.set('/token', (_req, res) => {
    answerJson(res, { access_token: 'opaque', token_type: 'Bearer', id_token: idToken, ...more });
  });
  return await callBack(api, { code: 'any', state: begun.state, iss: issuer.url }, begun.cookie);
}

const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow;

describe('an ID token is refused', () => {
  const bad: Record<string, (claims: object) => Promise<string | undefined>> = {
    'with another nonce': (claims) => sign({ ...claims, nonce: 'x'.repeat(43) }),
    'without a nonce': (claims) => sign({ ...claims, nonce: undefined }),
    'of another issuer': (claims) => sign({ ...claims, iss: 'https://evil.example' }),
    'for another client': (claims) => sign({ ...claims, aud: 'another' }),
    'for several clients, issued to another one': (claims) =>
      sign({ ...claims, aud: ['pasteflow', 'another'], azp: 'another' }),
    'issued to another client': (claims) => sign({ ...claims, azp: 'another' }),
    'dated in the future': (claims) => sign({ ...claims, iat: seconds(60), exp: seconds(600) }),
    'that has expired': (claims) => sign({ ...claims, exp: seconds(-30) }),
    'that is not valid yet': (claims) => sign({ ...claims, nbf: seconds(30) }),
    'without an expiry': (claims) => sign({ ...claims, exp: undefined }),
    'without a subject': (claims) => sign({ ...claims, sub: undefined }),
    'with a subject that Postgres can’t store': (claims) => sign({ ...claims, sub: 'a\0b' }),
    'signed with the key of another provider': (claims) =>
      stranger.signed({ iss: issuer.url, aud: 'pasteflow', ...claims }, { typ: 'JWT' }),
    'without its signature': async (claims) => (await sign(claims)).replace(/[^.]*$/, ''),
    'that is unsigned': async (claims) => {
      const [, payload] = (await sign(claims)).split('.');
      return `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`;
    },
    'that is missing': () => Promise.resolve(undefined),
  };
  const sign = (claims: object) => issuer.signed({ aud: 'pasteflow', ...claims }, { typ: 'JWT' });

  it.each(Object.keys(bad))('%s', async (name) => {
    const begun = await beginSignIn(api);
    const users = await bed.db.selectFrom('users').select('name').execute();
    const response = await redeem(begun, await bad[name]!({ nonce: begun.nonce }));
    expect(sessionIn(response)).toBeUndefined();
    expect([401, 503]).toContain(response.status);
    expect(await bed.db.selectFrom('users').select('name').execute()).toEqual(users);
  });

  it('but not when clocks differ by seconds', async () => {
    for (const claims of [{ exp: seconds(-2) }, { nbf: seconds(2) }, { iat: seconds(3) }]) {
      const begun = await beginSignIn(api);
      const token = await sign({ nonce: begun.nonce, sub: 'skewed', ...claims });
      expect(sessionIn(await redeem(begun, token))).toMatch(/^[\w-]{43}$/);
    }
  });
});
