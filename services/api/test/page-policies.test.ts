import { beforeAll, describe, expect, it } from '@jest/globals';
import { routesOf } from '../src/app.ts';
import type { ApiContext } from '../src/context.ts';
import type { Policy } from '../src/http/openapi/endpoint.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { ownPage, problemOf } from './support/http.ts';
import { fields, limited } from './support/limits.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

const bed = useApi();

/** The pages, which the OpenAPI document does not know. */
const pages = Object.entries(routesOf({ isDevelopment: true, jobTypes } as ApiContext)).flatMap(
  ([path, methods]) =>
    Object.entries(methods).flatMap(([method, endpoint]) =>
      'policy' in endpoint
        ? [{ name: `${method} ${path}`, method, path, policy: endpoint.policy, page: endpoint.page }]
        : [],
    ),
);

const user: Policy = { access: 'user' };
const anyone: Policy = { access: 'anyone' };
const newcomer: Policy = { access: 'anyone', ignoresSession: true };
const guessed: Policy = { access: 'anyone', countsMisses: true };

const POLICIES: Readonly<Record<string, Policy>> = {
  'GET /assets/:file': { access: 'open' },
  'GET /logo': { access: 'open' },
  'GET /styleguide': anyone,
  'GET /session': anyone,
  'POST /session': newcomer,
  'GET /session/oidc': newcomer,
  'GET /session/oidc/callback': newcomer,
  'POST /session/end': newcomer,
  'GET /invitation/:secret': newcomer,
  'POST /invitation/:secret': newcomer,
  'POST /language': newcomer,
  'GET /my/sessions': user,
  'POST /my/sessions/end': user,
  'GET /my/account': user,
  'POST /my/account/erase': user,
  'GET /my/pastes': user,
  'POST /my/pastes/delete': user,
  'POST /my/slugs/:slug': { access: 'user', countsMisses: true },
  'GET /requests/:id': guessed,
  'GET /my/requests': user,
  'GET /my/requests/:id': { access: 'user', countsMisses: true },
  'POST /my/requests/:id/cancel': { access: 'user', countsMisses: true },
  'GET /my/jobs': user,
  'POST /my/jobs/import': user,
  'POST /my/jobs/export': user,
  'GET /my/jobs/:id': user,
  'POST /my/jobs/:id/cancel': user,
  'POST /my/jobs/:id/retry': user,
  'GET /my/tokens': user,
  'POST /my/tokens': user,
  'POST /my/tokens/revoke': user,
  'GET /my/webhooks': user,
  'POST /my/webhooks': user,
  'GET /my/webhooks/:id': user,
  'POST /my/webhooks/:id': user,
  'POST /my/webhooks/:id/switch-on': user,
  'POST /my/webhooks/:id/remove': user,
  'POST /my/webhooks/:id/deliveries/:delivery/retry': user,
  'GET /:short_code/image': guessed,
  'GET /:short_code/new': guessed,
  'GET /:short_code/change': guessed,
  'POST /:short_code/change': guessed,
  'GET /:short_code/edit': guessed,
  'POST /:short_code/delete': guessed,
  'GET /:short_code/report': guessed,
  'POST /:short_code/report': guessed,
};

let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

it('the policy of each page is known', () => {
  expect(Object.fromEntries(pages.map(({ name, policy }) => [name, policy]))).toEqual(POLICIES);
});

const prepared = async (name: string) => {
  const { path, init } = await accessTable[name]![0]!.prepare(bed, owner);
  return { path, body: init?.body ?? null };
};

const ask = async (
  { url }: { readonly url: string },
  { method, path }: { readonly method: string; readonly path: string },
  { body = null, headers = {} }: { body?: RequestInit['body']; headers?: Record<string, string> } = {},
) =>
  await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...BROWSER, ...ownPage(url), ...headers },
    ...(method === 'POST' && { body }),
  });

describe('each page for users', () => {
  const forUsers = pages.filter(({ policy }) => policy.access === 'user');

  it.each(forUsers)('$name asks a browser without a session to sign in', async ({ name, method }) => {
    const { path, body } = await prepared(name);
    const response = await ask(bed.api, { method, path }, { body });
    expect([response.status, await response.text()]).toEqual([
      401,
      expect.stringMatching(/action="[^"]*\/session"/),
    ]);
  });
});

describe('where a browser can only send a form', () => {
  const withGet = new Set(pages.flatMap(({ method, path }) => (method === 'GET' ? [path] : [])));
  const onlyForms = pages.filter(({ method, path }) => method === 'POST' && !withGet.has(path));

  it.each(onlyForms)('$path shows a page to one that only reads', async ({ path }) => {
    const at = { method: 'GET', path: path.replaceAll(/:\w+/g, 'x') };
    for (const headers of [{}, { ...owner.headers }]) {
      const response = await ask(bed.api, at, { headers });
      expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
        405,
        'POST',
        expect.stringMatching(/^<!doctype html>[^]*Go back to the page of the form/i),
      ]);
      expect(response.headers.get('vary')).toContain('Accept');
    }
  });

  it('an address of programs alone stays one', async () => {
    const response = await ask(bed.api, { method: 'GET', path: '/v1/jobs/x/retry' });
    expect([response.headers.get('allow'), await problemOf(response)]).toMatchObject([
      'POST',
      { status: 405, detail: 'This route has no GET. Use POST.' },
    ]);
  });
});

describe('each page that looks a paste or a request up', () => {
  const lookUps = pages.filter(({ path }) => /:(short_code|slug)|requests\/:id/.test(path));

  it('is one that counts misses', () => {
    expect(lookUps.filter(({ policy }) => policy.countsMisses !== true)).toEqual([]);
    expect(lookUps).toHaveLength(12);
  });

  it.each(lookUps)('$name counts a 404 as a miss, and then answers no more', async (page) => {
    const api = await bed.start({ env: limited({ misses: 2 }) });
    const { headers } = await newUser(bed.db); // the counters are those of the caller
    const { path, body } = await prepared(page.name);
    const unknown = page.path.includes(':id') ? 'n'.repeat(22) : 'n0neOfThem';
    const missing = { ...page, path: page.path.replace(/:short_code|:slug|:id/, unknown) };
    const send = async (to: typeof missing) => await ask(api, to, { body, headers: { ...headers } });
    for (const _guess of [1, 2]) {
      const guess = await send(
        page.path.includes(':slug') ? { ...missing, path: '/my/slugs/none' } : missing,
      );
      expect([guess.status, fields(guess).policy]).toEqual([404, expect.stringContaining('"misses";q=2')]);
      await guess.text();
    }
    for (const to of [missing, { ...page, path }]) {
      const refused = await send(to);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([
        429,
        'text/html; charset=utf-8',
      ]);
      await refused.text();
    }
  });
});
