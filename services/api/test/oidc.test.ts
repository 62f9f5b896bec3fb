import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { exportSPKI, importJWK, type CryptoKey } from 'jose';
import { AUDIENCE, OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { until } from './support/until.ts';
import { newUser } from './support/users.ts';

const bed = useApi();

let issuer: OidcIssuer;
let stranger: OidcIssuer;
let api: RunningApi;
const issuers: OidcIssuer[] = [];

/** Without limits and without a cooldown: a test that changes keys does not wait for the clock. */
async function startApi(of: OidcIssuer): Promise<RunningApi> {
  return await bed.start({
    oidcCooldownMs: 0,
    env: {
      OIDC_ISSUER: of.url,
      OIDC_AUDIENCE: AUDIENCE,
      RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
      RATE_LIMIT_MISSES_PER_MINUTE: '0',
      RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
    },
  });
}

beforeAll(async () => {
  for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
  issuer = await OidcIssuer.start(['alice', 'bob', ...Array.from({ length: 5 }, (_, n) => `client-${n}`)]);
  stranger = await OidcIssuer.start(['alice']);
});
afterAll(async () => {
  for (const each of [issuer, stranger, ...issuers]) await each?.down();
});

/** An issuer for a test that changes it. */
async function startIssuer(alg?: string): Promise<OidcIssuer> {
  const started = await OidcIssuer.start(['alice'], alg);
  issuers.push(started);
  return started;
}

const list = (token: string, url = api.url) =>
  fetch(`${url}/v1/pastes`, { headers: { authorization: `Bearer ${token}` } });

async function statusOf(token: string, url?: string): Promise<number> {
  const response = await list(token, url);
  await response.arrayBuffer();
  return response.status;
}

const usersNamed = (name: string) =>
  bed.db.selectFrom('users').selectAll().where('name', '=', name).execute();

describe('a token of the identity provider', () => {
  beforeEachApi(() => startApi(issuer));

  it('makes its subject a user at the first request, who owns what it creates', async () => {
    const token = await issuer.token('alice');
    const created = await fetch(api.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: 'mine',
    });
    expect([created.status, created.headers.has('delete-token')]).toEqual([201, false]);
    const [user, ...more] = await usersNamed(`${issuer.url}#alice`);
    expect(more).toEqual([]);
    const { pastes } = (await (await list(token)).json()) as { pastes: { url: string }[] };
    expect(pastes.map(({ url }) => url)).toEqual([(await created.text()).trim()]);
    const rows = await bed.db
      .selectFrom('pastes')
      .select('user_id')
      .where('user_id', '=', user!.id)
      .execute();
    expect(rows).toHaveLength(1);
    expect(await statusOf(await issuer.token('bob'))).toBe(200);
  });

  it('costs two statements the first time, and one afterwards', async () => {
    const token = await issuer.token('client-0');
    await statusOf(await issuer.token('client-1'));
    const before = api.statements.length;
    expect(await statusOf(token)).toBe(200);
    const first = api.statements.length;
    expect(await statusOf(await issuer.token('client-0'))).toBe(200);
    expect([first - before, api.statements.length - first]).toEqual([3, 2]);
  });

  it('creates one user for fifty concurrent first requests', async () => {
    const token = await issuer.token('client-2');
    const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOf(token)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await usersNamed(`${issuer.url}#client-2`)).toHaveLength(1);
  });

  it('works beside API tokens', async () => {
    const { token } = await newUser(bed.db);
    expect(await statusOf(token)).toBe(200);
  });

  it('is verified by keys that were fetched once', async () => {
    const token = await issuer.token('alice');
    issuer.requests.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => statusOf(token)));
    await statusOf(token);
    expect(issuer.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });

  it('signs a browser in for as long as the token lasts', async () => {
    const token = await issuer.signed({ sub: 'of a form' });
    const response = await fetch(`${api.url}/session`, {
      ...ownForm(api.url, { token }),
      redirect: 'manual',
    });
    expect(response.status).toBe(303);
    const [user] = await usersNamed(`${issuer.url}#of a form`);
    const session = await bed.db
      .selectFrom('api_tokens')
      .selectAll()
      .where('user_id', '=', user!.id)
      .executeTakeFirstOrThrow();
    expect(+session.expires_at! - +session.created_at).toBeLessThanOrEqual(60_000);
    expect(session).toMatchObject({ is_session: true, signed_in_by: null });
  });

  it('is never logged', async () => {
    const token = await issuer.token('alice');
    await statusOf(token);
    await statusOf(`${token}x`);
    const signature = token.split('.')[2]!;
    expect(JSON.stringify(api.logs)).not.toContain(signature);
  });
});

describe.each(['PS256', 'ES256', 'EdDSA'])('a token signed with %s', (alg) => {
  it('is accepted', async () => {
    const other = await startIssuer(alg);
    const { url } = await startApi(other);
    const token = await other.token('alice');
    expect(await statusOf(token, url)).toBe(200);
  });
});

describe('a token is refused', () => {
  beforeEachApi(() => startApi(issuer));

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow;

  const bad: Record<string, () => Promise<string>> = {
    'for another audience': () => issuer.token('alice', 'https://elsewhere.example.org'),
    'of another issuer': () => stranger.token('alice'),
    'of another issuer in our issuer’s name': () => stranger.signed({ iss: issuer.url }),
    'that is opaque': () => issuer.token('alice', null),
    'that has expired': () => issuer.signed({ exp: seconds(-30) }),
    'that is dated in the future': () => issuer.signed({ iat: seconds(60), exp: seconds(600) }),
    'that is not valid yet': () => issuer.signed({ nbf: seconds(30) }),
    'that never expires': () => issuer.signed({ exp: undefined }),
    'without an audience': () => issuer.signed({ aud: undefined }),
    'without an issuer': () => issuer.signed({ iss: undefined }),
    'with the issuer and a slash': () => issuer.signed({ iss: `${issuer.url}/` }),
    'without a subject': () => issuer.signed({ sub: undefined }),
    'with an empty subject': () => issuer.signed({ sub: '' }),
    'with a subject that is a number': () => issuer.signed({ sub: 7 }),
    'with NUL in its subject': () => issuer.signed({ sub: 'a\0b' }),
    'with a lone surrogate in its subject': () => issuer.signed({ sub: 'a\ud800' }),
    'with a subject of 256 characters': () => issuer.signed({ sub: 'x'.repeat(256) }),
    'whose claims were changed': async () => {
      const [header, payload = '', signature] = (await issuer.token('alice')).split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      return [header, part({ ...claims, sub: 'bob' }), signature].join('.');
    },
    'whose signature was changed': async () => {
      const [header, payload, signature = ''] = (await issuer.token('alice')).split('.');
      const bytes = Buffer.from(signature, 'base64url');
      bytes[9]! ^= 1;
      return [header, payload, bytes.toString('base64url')].join('.');
    },
    'without its signature': async () => (await issuer.token('alice')).replace(/[^.]*$/, ''),
    unsigned: async () => {
      const [, payload] = (await issuer.token('alice')).split('.');
      return `${part({ alg: 'none' })}.${payload}.`;
    },
    'signed with HS256 and the public key as PEM': async () => {
      const key = (await importJWK(issuer.key.publicJwk, issuer.key.alg, { extractable: true })) as CryptoKey;
      return await forged('HS256', await exportSPKI(key));
    },
    'signed with HS256 and the public key’s modulus': () =>
      forged('HS256', Buffer.from(issuer.key.publicJwk.n!, 'base64url')),
    'with an unknown key': async () => {
      const [, payload, signature] = (await issuer.token('alice')).split('.');
      return [part({ alg: 'RS256', kid: 'unknown' }), payload, signature].join('.');
    },
    'that brings its own key': async () => {
      const [, payload, signature] = (await stranger.signed({ iss: issuer.url })).split('.');
      return [part({ alg: 'RS256', jwk: stranger.key.publicJwk }), payload, signature].join('.');
    },
    'that is an API token with a dot': async () => `${(await newUser(bed.db)).token}.x.y`,
  };

  /** The claims of the issuer, under an HMAC. */
  async function forged(alg: string, secret: string | Buffer): Promise<string> {
    const [, payload] = (await issuer.token('alice')).split('.');
    const signed = `${part({ alg, kid: issuer.key.kid })}.${payload}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  }

  it.each(Object.keys(bad))('%s', async (name) => {
    const token = await bad[name]!();
    const users = await bed.db.selectFrom('users').select('name').execute();
    const response = await list(token);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pasteflow", error="invalid_token"');
    expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
    const after = await bed.db.selectFrom('users').select('name').execute();
    if (!name.includes('API token')) expect(after).toEqual(users);
  });

  it('when no identity provider is configured', async () => {
    expect(await statusOf(await issuer.token('alice'), bed.api.url)).toBe(401);
  });

  it('but not when clocks differ by seconds', async () => {
    expect(await statusOf(await issuer.signed({ exp: seconds(-2) }))).toBe(200);
    expect(await statusOf(await issuer.signed({ nbf: seconds(2) }))).toBe(200);
    expect(await statusOf(await issuer.signed({ aud: ['https://elsewhere.example.org', AUDIENCE] }))).toBe(
      200,
    );
  });
});

describe('an issuer that changes its keys', () => {
  it('is followed at once, and old tokens are valid while their key is published', async () => {
    const changing = await startIssuer();
    const { url } = await startApi(changing);
    const old = await changing.token('alice');
    expect(await statusOf(old, url)).toBe(200);
    await changing.rotate('second', { keepOld: true });
    expect(await statusOf(await changing.token('alice'), url)).toBe(200);
    expect(await statusOf(old, url)).toBe(200);
    await changing.rotate('third', { keepOld: false });
    expect(await statusOf(await changing.token('alice'), url)).toBe(200);
    expect(await statusOf(old, url)).toBe(401);
  });
});

describe('an issuer that is down', () => {
  it('makes its tokens a 503 instead of a 401, and nothing else; they work again when it is back', async () => {
    const leaving = await startIssuer();
    const token = await leaving.token('alice');
    await leaving.down();
    const { url, logs } = await startApi(leaving);
    for (const response of [await list(token, url), await list(token, url)]) {
      expect(response.headers.get('retry-after')).toBe('1');
      expect(await problemOf(response)).toMatchObject({
        status: 503,
        code: 'dependency_unavailable',
        detail: expect.stringContaining('oidc'),
      });
    }
    expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await statusOf('no.jwt.atall', url)).toBe(401);
    expect(await statusOf((await newUser(bed.db)).token, url)).toBe(200);
    expect((await fetch(`${url}/v1/pastes/unknown`)).status).toBe(404);
    await leaving.up();
    await until(
      async () => await statusOf(token, url),
      (status) => status === 200,
    );
  });
});

/** An api for each test, because what it knows about the issuer is its own. */
function beforeEachApi(start: () => Promise<RunningApi>): void {
  beforeEach(async () => {
    api = await start();
  });
}
