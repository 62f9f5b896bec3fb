import { beforeAll, expect, it } from '@jest/globals';
import { routesOf, type AppDependencies } from '../src/app.ts';
import { newApiToken } from '../src/identity/api-token.ts';
import type { Method } from '../src/openapi/endpoint.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { countPastes } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

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

/** That a malformed, an expired or a revoked token counts as a wrong one is in tokens.test.ts. */
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
          const missing = path.startsWith('/session/') ? 'route_not_found' : 'paste_not_found';
          expect(code).toBe({ 401: 'unauthorized', 403: 'job_forbidden', 404: missing }[status]);
        } else {
          await response.arrayBuffer();
        }
      }
  },
);
