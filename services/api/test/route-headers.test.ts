import { beforeAll, describe, expect, it } from '@jest/globals';
import { routesOf, type AppDependencies } from '../src/app.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

/** The headers that decide what a browser or a cache does with an answer. */
const POLICY = [
  'content-security-policy',
  'x-content-type-options',
  'cross-origin-resource-policy',
  'cross-origin-opener-policy',
  'referrer-policy',
  'x-robots-tag',
  'access-control-allow-origin',
];
const CACHING = ['cache-control', 'vary'];

const headersOf = ({ headers }: Response, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, headers.get(name)]));

const isPage = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/html') === true;

/**
 * A page has a policy for its own scripts; whatever else a browser shows runs nothing, and no other window
 * has a handle of a page.
 */
function expectPolicyOfItsType(response: Response): void {
  const { 'content-security-policy': policy, 'cross-origin-opener-policy': opener } = headersOf(
    response,
    POLICY,
  );
  expect(policy).toMatch(isPage(response) ? /^(?!.*sandbox).*script-src 'self'/ : /^default-src 'none'/);
  expect([isPage(response), opener]).toEqual([isPage(response), isPage(response) ? 'same-origin' : null]);
}

const endpoints = Object.entries(routesOf({} as AppDependencies)).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => [`${method} ${path}`, method] as const),
);

const clients = { 'a browser': BROWSER.accept, 'a program': '*/*' };
const cases = endpoints.flatMap(([endpoint, method]) =>
  Object.entries(clients).map(([client, accept]) => [endpoint, client, method, accept] as const),
);

describe.each(cases)('%s for %s', (endpoint, _client, method, accept) => {
  const ask = async (headers: Record<string, string> = {}, as = owner, asked = method) => {
    const { path, init } = await accessTable[endpoint]![0]!.prepare(bed, owner);
    return await fetch(bed.api.url + path, {
      redirect: 'manual',
      ...init,
      method: asked,
      headers: { ...as.headers, ...(init?.headers as Record<string, string>), accept, ...headers },
    });
  };

  it('has the headers of its type, also when it refuses the caller', async () => {
    const bad = { ...owner, headers: { authorization: 'Bearer pf_wrong' } };
    for (const response of [await ask(), await ask({}, bad)]) {
      await response.arrayBuffer();
      if (response.status < 300 || response.status >= 400) expectPolicyOfItsType(response);
    }
  });

  if (method !== 'GET') return;

  it('has the headers of its 200 in a HEAD, a 304, a part, and a refused condition', async () => {
    const { path, init } = await accessTable[endpoint]![0]!.prepare(bed, owner);
    const again = async (headers: Record<string, string>, asked = 'GET') => {
      const all = { ...owner.headers, accept, ...headers };
      const response = await fetch(bed.api.url + path, {
        ...init,
        method: asked,
        headers: all,
        redirect: 'manual',
      });
      await response.arrayBuffer();
      return response;
    };
    const whole = await again({});
    const head = await again({}, 'HEAD');
    expect([head.status, headersOf(head, [...POLICY, ...CACHING, 'content-type', 'etag'])]).toEqual([
      whole.status,
      headersOf(whole, [...POLICY, ...CACHING, 'content-type', 'etag']),
    ]);
    const etag = whole.headers.get('etag');
    if (etag !== null) {
      const known = await again({ 'if-none-match': etag });
      expect([known.status, headersOf(known, [...POLICY, ...CACHING])]).toEqual([
        304,
        headersOf(whole, [...POLICY, ...CACHING]),
      ]);
    }
    if (whole.headers.get('accept-ranges') === null) return;
    const part = await again({ range: 'bytes=0-0' });
    expect([part.status, headersOf(part, [...POLICY, ...CACHING])]).toEqual([
      206,
      headersOf(whole, [...POLICY, ...CACHING]),
    ]);
    for (const [headers, status] of [
      [{ range: 'bytes=999999-' }, 416],
      [{ 'if-match': '"x"' }, 412],
    ] as const) {
      const refused = await again(headers);
      expect([refused.status, headersOf(refused, POLICY)]).toEqual([status, headersOf(whole, POLICY)]);
    }
  });
});

it('an unknown address has the headers of its type', async () => {
  for (const accept of Object.values(clients)) {
    const response = await fetch(`${bed.api.url}/no/such/path`, { headers: { accept } });
    await response.arrayBuffer();
    expectPolicyOfItsType(response);
  }
});
