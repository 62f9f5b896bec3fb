import { beforeAll, describe, expect, it } from '@jest/globals';
import { routesOf, type AppDependencies } from '../src/app.ts';
import { newApiToken } from '../src/identity/api-token.ts';
import type { Method } from '../src/openapi/endpoint.ts';
import type { AccessCase } from './support/access-cases.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { countPastes } from './support/pastes.ts';
import { newUser, spentToken, type TestUser } from './support/users.ts';

const bed = useApi();

const endpoints = Object.entries(routesOf({} as AppDependencies)).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operation }]) => ({
    method: method as Method,
    path,
    access: operation.access,
  })),
);

it('lists every endpoint of the route table, and no other', () => {
  expect(Object.keys(accessTable)).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`));
  for (const cases of Object.values(accessTable)) expect(cases).not.toEqual([]);
});

let owner: TestUser;
let other: TestUser;
let refused: Readonly<Record<string, string>>;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
  refused = {
    'a bad token': `Bearer ${newApiToken()}`,
    'a malformed token': `Bearer ${owner.token.slice(0, -1)}`,
    'an expired token': `Bearer ${await spentToken(bed.db, owner.id, 'expired')}`,
    'a revoked token': `Bearer ${await spentToken(bed.db, owner.id, 'revoked')}`,
  };
});

const callers = [
  'no token',
  'a bad token',
  'a malformed token',
  'an expired token',
  'a revoked token',
  'another user’s token',
  'the owner’s token',
] as const;

type CallerName = (typeof callers)[number];

function authorizationOf(caller: CallerName): string | undefined {
  if (caller === 'no token') return undefined;
  if (caller === 'another user’s token') return other.headers.authorization;
  if (caller === 'the owner’s token') return owner.headers.authorization;
  return refused[caller];
}

function expectedStatus(caller: CallerName, open: boolean, of: AccessCase): number {
  if (caller === 'no token') return of.none;
  if (caller === 'another user’s token') return of.other;
  if (caller === 'the owner’s token') return of.owner;
  return open ? of.none : 401;
}

type Prepared = ReturnType<AccessCase['prepare']>;
const prepared = new Map<AccessCase, Prepared>();

/** What GET and HEAD ask for is prepared once for all callers: they don't change it. To store a paste takes 8 ms of CPU time. */
function prepare(asked: string, of: AccessCase): Prepared {
  if (asked !== 'GET' && asked !== 'HEAD') return of.prepare(bed, owner);
  const known = prepared.get(of) ?? of.prepare(bed, owner);
  prepared.set(of, known);
  return known;
}

const cases = endpoints.flatMap(({ method, path, access }) =>
  (accessTable[`${method} ${path}`] ?? []).flatMap((each) =>
    (method === 'GET' ? ['GET', 'HEAD'] : [method]).flatMap((asked) =>
      callers.map((caller) => ({ asked, path, access, caller, each })),
    ),
  ),
);

describe.each(
  cases.map((one) => [`${one.asked} ${one.path}`, one.each.about ?? '', one.caller, one] as const),
)('%s %s', (_endpoint, _about, caller, { asked, access, each }) => {
  it(`answers each request of the table as documented to ${caller}`, async () => {
    const { path, init } = await prepare(asked, each);
    const authorization = authorizationOf(caller);
    const headers = new Headers(init?.headers);
    if (authorization !== undefined) headers.set('authorization', authorization);
    const before = await countPastes(bed.db);
    const response = await fetch(bed.api.url + path, { ...init, method: asked, headers, redirect: 'manual' });
    const status = expectedStatus(caller, access === 'open', each);
    expect(response.status).toBe(status);
    if (status === 401) {
      const bad = refused[caller] !== undefined;
      const challenge = response.headers.get('www-authenticate');
      expect(challenge).toMatch(/^(Bearer|Delete-Token) realm="pasteflow"/);
      expect(challenge!.includes('error="invalid_token"')).toBe(bad);
    }
    if (status >= 400) expect(await countPastes(bed.db)).toBe(before);
    if (status >= 400 && asked !== 'HEAD') {
      const { code } = await problemOf(response);
      const missing = path.startsWith('/session/') ? 'route_not_found' : 'paste_not_found';
      expect(code).toBe({ 401: 'unauthorized', 403: 'job_forbidden', 404: missing }[status]);
    } else {
      await response.arrayBuffer();
    }
  });
});
