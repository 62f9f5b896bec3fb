import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JWK } from 'jose';
import { AUDIENCE, OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { useApi, type RunningApi } from './support/api.ts';
import { problemOf } from './support/http.ts';

const bed = useApi();
const NO_LIMITS = {
  RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
  RATE_LIMIT_MISSES_PER_MINUTE: '0',
  RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
};

const startApi = async (issuer: string): Promise<RunningApi> =>
  await bed.start({
    oidcCooldownMs: 0,
    env: { OIDC_ISSUER: issuer, OIDC_AUDIENCE: AUDIENCE, ...NO_LIMITS },
  });

const list = async (api: RunningApi, token: string): Promise<Response> =>
  await fetch(`${api.url}/v1/pastes`, { headers: { authorization: `Bearer ${token}` } });

async function expectRefused(response: Response): Promise<void> {
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pasteflow", error="invalid_token"');
  expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
}

describe('of the tokens that an identity provider signs', () => {
  let issuer: OidcIssuer;
  let api: RunningApi;
  beforeAll(async () => {
    for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
    issuer = await OidcIssuer.start(['alice']);
  });
  beforeEach(async () => {
    api = await startApi(issuer.url);
  });
  afterAll(() => issuer.down());

  it.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/AT+jwt', 'JWT', 'jwt', 'application/jwt'])(
    'access tokens are accepted, with the type %s',
    async (typ) => {
      expect((await list(api, await issuer.signed({}, { typ }))).status).toBe(200);
    },
  );

  it.each<[string, object]>([
    ['scopes and an authorized party', { scope: 'pastes', azp: 'client', sid: 'session', auth_time: 1 }],
    ['Keycloak’s name for an access token, with a nonce', { typ: 'Bearer', nonce: 'n' }],
    ['Cognito’s name for an access token', { token_use: 'access' }],
  ])('access tokens of the type JWT are accepted, with %s', async (_, claims) => {
    expect((await list(api, await issuer.signed({ ...claims }, { typ: 'JWT' }))).status).toBe(200);
  });

  it.each([
    undefined,
    '',
    'ID',
    'id+jwt',
    'logout+jwt',
    'application/logout+jwt',
    'dpop+jwt',
    'DPoP+JWT',
    'secevent+jwt',
    'token-introspection+jwt',
    'application/application/jwt',
    'at+jwt ',
    'xat+jwt',
    ['at+jwt'],
    7,
  ])('those of the type %p are refused', async (typ) => {
    await expectRefused(await list(api, await issuer.signed({}, typ === undefined ? {} : { typ })));
  });

  it.each<[string, object]>([
    ['an ID token with a nonce', { nonce: 'n-0S6_WzA2Mj' }],
    ['an ID token with the hash of an access token', { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' }],
    ['an ID token with the hash of a code', { c_hash: 'LDktKdoQak3Pk0cnXxCltA' }],
    ['an ID token with the hash of a state', { s_hash: 'x' }],
    ['an ID token of Keycloak', { typ: 'ID' }],
    ['an ID token of Keycloak with a nonce', { typ: 'ID', nonce: 'n' }],
    ['a refresh token of Keycloak', { typ: 'Refresh' }],
    ['an ID token of Cognito', { token_use: 'id' }],
    ['a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
    ['a token bound to a key', { cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } }],
    [
      'a token bound to a certificate',
      { cnf: { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' } },
    ],
    ['a token with an empty binding', { cnf: null }],
  ])('%s is refused, also with the type JWT', async (_, claims) => {
    await expectRefused(await list(api, await issuer.signed({ ...claims }, { typ: 'JWT' })));
  });

  it.each<[string, object]>([
    ['logout tokens', { events: {} }],
    ['tokens bound to a key', { cnf: { jkt: 'x' } }],
  ])('%s are refused with the type at+jwt, too', async (_, claims) => {
    await expectRefused(await list(api, await issuer.signed({ ...claims }, { typ: 'at+jwt' })));
  });
});

describe('a token under a published key that cannot be used', () => {
  let server: Server;
  let published: readonly object[];
  let issuer: string;
  beforeAll(async () => {
    server = createServer((req, res) => {
      const metadata = { issuer, jwks_uri: `${issuer}/keys` };
      res.end(JSON.stringify(req.url === '/keys' ? { keys: published } : metadata));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const good = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  const published256 = (key: KeyObject, more: object): JWK => ({
    ...key.export({ format: 'jwk' }),
    kid: 'bad',
    ...more,
  });
  const rs256 = { alg: 'RS256', use: 'sig' };

  const bad: Record<string, readonly [key: object, signer: KeyObject, alg?: string]> = {
    'of 1024 bits': [published256(weak.publicKey, rs256), weak.privateKey],
    'of another type under the same id': [
      { kty: 'oct', kid: 'bad', k: 'c2VjcmV0', ...rs256 },
      good.privateKey,
    ],
    'of an elliptic curve, for RS256': [published256(curve.publicKey, rs256), good.privateKey],
    'for encryption': [published256(good.publicKey, { alg: 'RS256', use: 'enc' }), good.privateKey],
    'for another algorithm': [published256(good.publicKey, { alg: 'PS512', use: 'sig' }), good.privateKey],
    'that must not verify': [
      published256(good.publicKey, { ...rs256, key_ops: ['encrypt'] }),
      good.privateKey,
    ],
    'whose modulus is no number': [published256(good.publicKey, { ...rs256, n: '*' }), good.privateKey],
    'whose modulus is empty': [published256(good.publicKey, { ...rs256, n: '' }), good.privateKey],
    'without an exponent': [published256(good.publicKey, { ...rs256, e: undefined }), good.privateKey],
    'that is private': [published256(good.privateKey, rs256), good.privateKey],
    'that is not on its curve': [
      { ...published256(curve.publicKey, { alg: 'ES256', use: 'sig' }), x: 'AAAA', y: 'AAAA' },
      curve.privateKey,
      'ES256',
    ],
    'of a curve that nobody knows': [
      published256(curve.publicKey, { alg: 'ES256', use: 'sig', crv: 'P-257' }),
      curve.privateKey,
      'ES256',
    ],
    'that names no type': [published256(good.publicKey, { ...rs256, kty: undefined }), good.privateKey],
  };

  it.each(Object.keys(bad))('%s is 401, and one under a good key is accepted beside it', async (name) => {
    const [key, signer, alg = 'RS256'] = bad[name]!;
    published = [key, { ...published256(good.publicKey, rs256), kid: 'good' }];
    const api = await startApi(issuer);
    await expectRefused(await list(api, tokenOf(signer, { alg, kid: 'bad' })));
    expect((await list(api, tokenOf(good.privateKey, { alg: 'RS256', kid: 'good' }))).status).toBe(200);
    expect(api.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is logged as a warning with the id of the key, since its tokens fail', async () => {
    published = [bad['of 1024 bits']![0]];
    const api = await startApi(issuer);
    await expectRefused(await list(api, tokenOf(weak.privateKey, { alg: 'RS256', kid: 'bad' })));
    expect(api.logs).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'signing key unusable; its tokens are refused',
        kid: 'bad',
      }),
    );
  });

  /** Signed without jose, which refuses to sign with such keys. */
  function tokenOf(key: KeyObject, header: { alg: string; kid: string }): string {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const claims = { iss: issuer, aud: AUDIENCE, sub: 'alice', exp };
    const signed = [{ ...header, typ: 'at+jwt' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }
});
