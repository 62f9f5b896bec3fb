import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { useApi, type RunningApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { limited } from './support/limits.ts';
import {
  answerJson,
  beginSignIn,
  BROWSER,
  callBack,
  sessionIn,
  signInAtProvider,
  startOidcApi,
} from './support/sign-in.ts';
import { until } from './support/until.ts';
import { newUser } from './support/users.ts';

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

const UNAVAILABLE = 'Sign-in by the identity provider is not available now.';

describe('a provider that does not work', () => {
  const broken: Record<string, (req: IncomingMessage, res: ServerResponse) => void> = {
    'closes the connection': (_req, res) => res.destroy(),
    'answers 500': (_req, res) => res.writeHead(500).end('<b>broken</b>'),
    'answers no JSON': (_req, res) => res.setHeader('Content-Type', 'text/html').end('<b>broken</b>'),
    'redirects elsewhere': (_req, res) => res.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'does not know this client': (_req, res) => {
      res.statusCode = 401;
      answerJson(res, { error: 'invalid_client', error_description: '<b>broken</b>' });
    },
    'never answers': () => {},
    'never ends its answer': (_req, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    'answers without end': (_req, res) => pour(res),
  };

  it.each(Object.keys(broken))('is unavailable, and nothing else is, when it %s', async (name) => {
    api = await startOidcApi(bed, issuer, { requestTimeoutMs: 2000 });
    const begun = await beginSignIn(api);
    issuer.instead.set('/token', broken[name]!);
    const response = await callBack(api, { code: 'any', state: begun.state, iss: issuer.url }, begun.cookie);
    expect(response.status).toBe(503);
    const markup = await response.text();
    expect(markup).toContain(UNAVAILABLE);
    expect(markup).not.toContain('broken');
    expect(JSON.stringify(api.logs)).not.toContain('<b>');
    const { headers } = await newUser(bed.db);
    expect((await fetch(`${api.url}/v1/pastes`, { headers })).status).toBe(200);
  });

  it('lets the api start and serve while it is down, and works once it is back', async () => {
    await issuer.down();
    const begin = () =>
      fetch(`${api.url}/session/oidc?next=/x`, {
        headers: { ...BROWSER, 'sec-fetch-site': 'same-origin' },
        redirect: 'manual',
      });
    const response = await begin();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    const markup = await response.text();
    expect(markup).toContain(UNAVAILABLE);
    expect(markup).toContain('name="next" value="/x"');
    const json = await fetch(`${api.url}/session/oidc`, { headers: { 'sec-fetch-site': 'none' } });
    expect(await problemOf(json)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
    expect(JSON.stringify(api.logs)).toContain('ECONNREFUSED');
    await issuer.up();
    await until(
      async () => (await begin()).status,
      (status) => status === 303,
    );
  });

  it('is unavailable when its metadata name another issuer, also one with a slash', async () => {
    for (const named of [`${issuer.url}/`, stranger.url]) {
      api = await startOidcApi(bed, issuer);
      issuer.instead.set('/.well-known/openid-configuration', (_req, res) =>
        answerJson(res, { issuer: named, authorization_endpoint: `${stranger.url}/auth` }),
      );
      const response = await fetch(`${api.url}/session/oidc`, {
        headers: { 'sec-fetch-site': 'none' },
        redirect: 'manual',
      });
      expect(response.status).toBe(503);
      expect(JSON.stringify(api.logs)).toMatch(/Name exactly that issuer|does not match the expected issuer/);
    }
  });

  it('holds 20 sign-ins at a time, and no more', async () => {
    api = await startOidcApi(bed, issuer, { requestTimeoutMs: 60_000 });
    const begun = await beginSignIn(api);
    const held: ServerResponse[] = [];
    issuer.instead.set('/token', (_req, res) => void held.push(res));
    const query = { code: 'any', state: begun.state, iss: issuer.url };
    const waiting = Array.from({ length: 20 }, () => callBack(api, query, begun.cookie));
    await until(
      () => held.length,
      (count) => count === 20,
    );
    const refused = await callBack(api, query, begun.cookie);
    expect([refused.status, held.length]).toEqual([503, 20]);
    for (const res of held) res.destroy();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(20).fill(503));
    issuer.instead.clear();
    const own = await beginSignIn(api);
    const answer = await signInAtProvider(issuer, own, { name: 'anna' });
    expect(sessionIn(await callBack(api, answer, own.cookie))).toMatch(/^[\w-]{43}$/);
  });

  it('is not asked for more wrong codes than a client may have wrong tokens', async () => {
    api = await startOidcApi(bed, issuer, {
      env: { ...limited({ misses: 3 }), TRUST_PROXY: 'loopback' },
    });
    const elsewhere = { 'x-forwarded-for': '198.51.100.7' }; // the other tests have used up the limit of this address
    const begun = await beginSignIn(api);
    const query = { code: 'wrong', state: begun.state, iss: issuer.url };
    const statuses: number[] = [];
    for (let tries = 0; tries < 6; tries += 1)
      statuses.push((await callBack(api, query, begun.cookie, elsewhere)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
  });
});

/** Bytes until the reader leaves. */
function pour(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' });
  const more = (): void => {
    while (!res.destroyed && res.write(' '.repeat(65_536)));
  };
  res.on('drain', more);
  more();
}
