import { beforeAll, describe, expect, it } from '@jest/globals';
import { TcpProxy } from '@pasteflow/dev-stack/testing';
import { routesOf } from '../src/app.ts';
import { policyOf } from '../src/http/openapi/endpoint.ts';
import type { ApiContext } from '../src/context.ts';
import { hashOfSecret, newApiToken } from '../src/http/callers/secret.ts';
import type { Method } from '../src/http/openapi/endpoint.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { answerOn, dial, postRaw, problemOf, rawExchange } from './support/http.ts';
import { countPastes, newPaste } from './support/pastes.ts';
import { until } from './support/until.ts';
import { newUser, spentToken, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

const bed = useApi({
  env: {
    RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
    RATE_LIMIT_CREATIONS_PER_MINUTE: '0',
    RATE_LIMIT_MISSES_PER_MINUTE: '0',
  },
});

let user: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
});

const list = (authorization: string) => fetch(`${bed.api.url}/v1/pastes`, { headers: { authorization } });

/** The statements that a request took. */
async function statementsOf(request: () => Promise<Response>): Promise<readonly string[]> {
  const before = bed.api.statements.length;
  await (await request()).arrayBuffer();
  return bed.api.statements.slice(before);
}

describe('an API token', () => {
  it('is 256 random bits behind pf_, of which the database has the SHA-256 alone', async () => {
    const tokens = Array.from({ length: 100 }, newApiToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) {
      expect(token).toMatch(/^pf_[\w-]{43}$/);
      expect(Buffer.from(token.slice(3), 'base64url')).toHaveLength(32);
    }
    const rows = await bed.db.selectFrom('api_tokens').selectAll().execute();
    expect(rows.filter(({ token_hash }) => token_hash.equals(hashOfSecret(user.token)))).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(user.token.slice(3));
  });

  it.each(['Bearer TOKEN', 'bearer TOKEN', 'BEARER   TOKEN', ' Bearer TOKEN '])(
    'is taken as %j',
    async (form) => {
      expect((await list(form.replace('TOKEN', user.token))).status).toBe(200);
    },
  );

  it.each([
    ['no token', 'Bearer'],
    ['an empty one', 'Bearer '],
    ['one that is too short', 'Bearer pf_abc'],
    ['one without its prefix', 'Bearer TAIL'],
    ['one in capitals', 'Bearer UPPER'],
    ['one with a character more', 'Bearer TOKENx'],
    ['one in quotes', 'Bearer "TOKEN"'],
    ['two', 'Bearer TOKEN TOKEN'],
    ['two behind a comma', 'Bearer TOKEN, Bearer TOKEN'],
    ['characters that no token has', 'Bearer pf_ä'],
    ['a JWT', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.'],
    ['a hash', 'Bearer HASH'],
  ])('is refused as %s, and without a statement', async (_name, form) => {
    const authorization = form
      .replaceAll('TOKEN', user.token)
      .replace('TAIL', user.token.slice(3))
      .replace('UPPER', user.token.toUpperCase())
      .replace('HASH', hashOfSecret(user.token).toString('hex'));
    const before = bed.api.statements.length;
    const { status, headers, body } = await rawExchange(
      bed.api.port,
      Buffer.from(
        `GET /v1/pastes HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\n\r\n`,
        'latin1',
      ),
    );
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="pasteflow", error="invalid_token"',
    ]);
    expect(JSON.parse(body)).toMatchObject({ code: 'unauthorized' });
    expect(bed.api.statements.slice(before)).toEqual([]);
  });

  it.each(['Basic dXNlcjpwYXNz', 'Digest username="x"', 'Token TOKEN', 'TOKEN', 'BearerTOKEN', ''])(
    'is refused under another scheme: %j',
    async (form) => {
      const code = await newPaste(bed.db);
      const answer = await rawExchange(
        bed.api.port,
        `GET /v1/pastes/${code} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${form.replace('TOKEN', user.token)}\r\n\r\n`,
      );
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="pasteflow"']);
    },
  );

  it('is told in the same words whether it is unknown, expired or revoked', async () => {
    const tokens = [
      newApiToken(),
      await spentToken(bed.db, user.id, 'expired'),
      await spentToken(bed.db, user.id, 'revoked'),
    ];
    const problems = await Promise.all(
      tokens.map(async (token) => await problemOf(await list(`Bearer ${token}`))),
    );
    expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(1);
  });

  it('is nowhere in the log', async () => {
    const bad = newApiToken();
    await list(`Bearer ${user.token}`);
    await list(`Bearer ${bad}`);
    await fetch(`${bed.api.url}/v1/pastes/${user.token}`);
    await until(() => bed.api.logs.filter(({ route }) => route === '/v1/pastes/:short_code').length > 0);
    expect(bed.api.logs).toContainEqual(expect.objectContaining({ message: 'request', user_id: user.id }));
    const logs = JSON.stringify(bed.api.logs);
    for (const token of [user.token, bad]) expect(logs).not.toContain(token.slice(3));
  });

  it('opens nothing as soon as it is revoked', async () => {
    const { id, headers } = await newUser(bed.db);
    const { authorization = '' } = headers;
    expect((await list(authorization)).status).toBe(200);
    await bed.db
      .updateTable('api_tokens')
      .set({ revoked_at: new Date() })
      .where('user_id', '=', id)
      .execute();
    expect((await list(authorization)).status).toBe(401);
  });

  it('is answered 503, not 401, while Postgres is away', async () => {
    const proxy = await TcpProxy.start(bed.stack.postgres.port);
    const api = await bed.start({ env: { DATABASE_URL: proxy.through(bed.databaseUrl) } });
    await proxy.down();
    const response = await fetch(`${api.url}/v1/pastes`, { headers: user.headers });
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'dependency_unavailable' });
  });
});

describe('the time of last use', () => {
  it('is written by the first request, in the statement that looks the token up, and not again within a minute', async () => {
    const { id, headers } = await newUser(bed.db);
    const used = async () =>
      (
        await bed.db
          .selectFrom('api_tokens')
          .select('last_used_at')
          .where('user_id', '=', id)
          .executeTakeFirstOrThrow()
      ).last_used_at;
    const request = () => fetch(`${bed.api.url}/v1/pastes`, { headers });
    expect(await used()).toBeNull();
    expect(await statementsOf(request)).toHaveLength(2);
    const first = await used();
    expect(first).not.toBeNull();
    expect(await statementsOf(request)).toHaveLength(2);
    expect(await used()).toEqual(first);
    await bed.db
      .updateTable('api_tokens')
      .set({ last_used_at: new Date(Date.now() - 61_000) })
      .where('user_id', '=', id)
      .execute();
    await request();
    expect((await used())!.getTime()).toBeGreaterThanOrEqual(first!.getTime());
  });
});

describe('the statements of a request', () => {
  it('are one to create anonymously, and two with a token', async () => {
    expect(await statementsOf(() => postRaw(bed.api.url, 'x'))).toEqual([
      expect.stringMatching(/INSERT INTO pastes/),
    ]);
    const owned = () => fetch(bed.api.url, { method: 'POST', headers: user.headers, body: 'x' });
    expect(await statementsOf(owned)).toEqual([
      expect.stringMatching(/FROM api_tokens/),
      expect.stringMatching(/INSERT INTO pastes/),
    ]);
  });

  it('are one for a read, and one more with a token', async () => {
    const code = await newPaste(bed.db);
    const read = (headers: TestUser['headers'] = {}) =>
      statementsOf(() => fetch(`${bed.api.url}/v1/pastes/${code}`, { headers }));
    expect(await read()).toHaveLength(1);
    expect(await read(user.headers)).toHaveLength(2);
  });
});

describe('a request that is refused for its token', () => {
  it('never reads its body, and ends the connection after a while', async () => {
    const before = await countPastes(bed.db);
    const socket = await dial(bed.api.port);
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\nAuthorization: Bearer ${newApiToken()}\r\n\r\n`,
    );
    expect((await answerOn(socket)).status).toBe(401);
    expect(await countPastes(bed.db)).toBe(before);
  });
});

/** The code of a 404. */
function missingAt(path: string): string {
  if (/^\/(session\/|cli\.tgz$|logo$|\.well-known\/)/.test(path)) return 'route_not_found';
  if (/^\/(v1|my)\/requests/.test(path)) return 'request_not_found';
  if (/^\/(v1|my)\/webhooks/.test(path)) return 'webhook_not_found';
  return path.includes('/tokens/') ? 'token_not_found' : 'paste_not_found';
}

describe('the access to each endpoint', () => {
  const bed = useApi();

  const endpoints = Object.entries(routesOf({ jobTypes } as ApiContext)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, endpoint]) => ({
      method: method as Method,
      path,
      access: policyOf(endpoint).access,
    })),
  );

  it('lists every endpoint of the route table, and no other', () => {
    const listed = endpoints.map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(accessTable).toSorted()).toEqual(listed.toSorted());
    for (const cases of Object.values(accessTable)) expect(cases).not.toEqual([]);
  });

  /** That a malformed, an expired or a revoked token counts as a wrong one is tested above. */
  const callers = ['no token', 'a wrong token', 'another user’s token', 'the owner’s token'] as const;

  type CallerName = (typeof callers)[number];

  let headersOf: Readonly<Record<CallerName, Record<string, string>>>;
  let owner: TestUser;
  beforeAll(async () => {
    owner = await newUser(bed.db);
    headersOf = {
      'no token': {},
      'a wrong token': { authorization: `Bearer ${newApiToken()}` },
      'another user’s token': (await newUser(bed.db)).headers,
      'the owner’s token': owner.headers,
    };
  });

  const cases = endpoints.flatMap(({ method, path, access }) =>
    (accessTable[`${method} ${path}`] ?? []).map(
      (of) => [`${method} ${path}`, of.about ?? 'any', { method, access, of }] as const,
    ),
  );

  it.each(cases)(
    '%s answers each caller as documented: %s',
    async (_endpoint, _about, { method, access, of }) => {
      const expected: Readonly<Record<CallerName, number>> = {
        'no token': of.none,
        'a wrong token': access === 'open' ? of.none : 401,
        'another user’s token': of.other,
        'the owner’s token': of.owner,
      };
      // What GET and HEAD ask for is prepared once: they don't change it.
      const shared = method === 'GET' ? await of.prepare(bed, owner) : null;
      for (const asked of method === 'GET' ? ['GET', 'HEAD'] : [method])
        for (const caller of callers) {
          const { path, init } = shared ?? (await of.prepare(bed, owner));
          const before = await countPastes(bed.db);
          const response = await fetch(bed.api.url + path, {
            ...init,
            method: asked,
            headers: { ...(init?.headers as Record<string, string>), ...headersOf[caller] },
            redirect: 'manual',
          });
          const status = expected[caller];
          expect({ asked, caller, status: response.status }).toEqual({ asked, caller, status });
          if (status === 401) {
            const challenge = response.headers.get('www-authenticate');
            expect(challenge).toMatch(/^(Bearer|Delete-Token) realm="pasteflow"/);
            expect(challenge!.includes('error="invalid_token"')).toBe(caller === 'a wrong token');
          }
          if (status >= 400) expect(await countPastes(bed.db)).toBe(before);
          if (status >= 400 && asked !== 'HEAD') {
            const { code } = await problemOf(response);
            const missing = missingAt(path);
            expect(code).toBe(
              { 401: 'unauthorized', 403: 'job_forbidden', 404: missing, 422: 'validation_failed' }[status],
            );
          } else {
            await response.arrayBuffer();
          }
        }
    },
  );
});
