import { beforeAll, describe, expect, it } from '@jest/globals';
import { routesOf } from '../src/app.ts';
import type { ApiContext } from '../src/context.ts';
import { accessTable } from './support/access-table.ts';
import { useApi } from './support/api.ts';
import { problemOf, rawExchange } from './support/http.ts';
import { countPastes, processedPaste } from './support/pastes.ts';
import { recordedBody } from './support/recorded-pastes.ts';
import { BROWSER } from './support/sign-in.ts';
import { newUser, type TestUser } from './support/users.ts';
import { jobTypes } from './support/job-types.ts';

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

const endpoints = Object.entries(routesOf({ jobTypes } as ApiContext)).flatMap(([path, methods]) =>
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
      expectPolicyOfItsType(refused);
      const expected = isPage(refused) ? headersOf(refused, POLICY) : headersOf(whole, POLICY);
      expect([refused.status, headersOf(refused, POLICY)]).toEqual([status, expected]);
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

async function headerOf(url: string, name: string): Promise<string | null> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.headers.get(name);
}

describe('Strict-Transport-Security', () => {
  it('is on every answer when PUBLIC_URL is https, also for bytes that are no HTTP', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'https://paste.example.org/' } });
    for (const path of ['/', '/docs', '/readyz', '/v1/pastes/unknown', '/nothing/here'])
      expect(await headerOf(api.url + path, 'strict-transport-security')).toBe('max-age=31536000');
    const { headers } = await rawExchange(api.port, 'what?\r\n\r\n');
    expect(headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000' });
  });

  it('is on no answer otherwise', async () => {
    const api = await bed.start({ env: { PUBLIC_URL: 'http://https.example.org' } });
    for (const { url, port } of [bed.api, api]) {
      expect(await headerOf(url, 'strict-transport-security')).toBeNull();
      expect((await rawExchange(port, 'what?\r\n\r\n')).headers).not.toHaveProperty(
        'strict-transport-security',
      );
    }
  });
});

describe('X-Robots-Tag', () => {
  it('keeps pastes out of search engines, in every form', async () => {
    const code = await processedPaste(bed, 'unlisted');
    const paste = `${bed.api.url}/v1/pastes/${code}`;
    for (const url of [`${bed.api.url}/${code}`, paste, `${paste}/content`, `${paste}/timeline`])
      expect(await headerOf(url, 'x-robots-tag')).toBe('noindex, nofollow');
  });

  it('lets search engines list the start page and the reference', async () => {
    for (const path of ['/', '/docs']) expect(await headerOf(bed.api.url + path, 'x-robots-tag')).toBeNull();
  });
});

/** Otherwise scripts of other sites create pastes, and Node's fetch sends what a script does. */
const startForOwnPages = () => bed.start({ env: { CORS_ORIGINS: 'none' } });

const FOREIGN = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };

describe('a request of a page of another site', () => {
  it.each([
    ['POST', '/', {}],
    ['POST', '/', { 'content-type': 'multipart/form-data; boundary=b' }],
    ['POST', '/', { accept: 'text/html' }],
    ['POST', '/v1/pastes', { 'content-type': 'text/plain' }],
    ['POST', '/v1/pastes', { 'content-type': 'application/json' }],
    ['POST', '/v1/jobs', {}],
    ['POST', '/v1/jobs/0198f0c2-7d1e-7a3b-9c4d-5e6f7a8b9c0d/cancel', {}],
    ['POST', '/v1/pastes/none/reveal', {}],
    ['POST', '/none', {}],
    ['POST', '/none/delete', {}],
    ['POST', '/my/pastes/delete', {}],
    ['POST', '/my/jobs/import', {}],
    ['POST', '/my/jobs/export', {}],
    ['DELETE', '/v1/pastes/none', {}],
  ])('is refused, and changes nothing: %s %s %j', async (method, path, headers) => {
    const { url } = await startForOwnPages();
    const before = await countPastes(bed.db);
    for (const foreign of [
      FOREIGN,
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      const response = await fetch(url + path, {
        method,
        headers: { ...headers, ...foreign },
        ...(method === 'POST' && { body: 'x' }),
      });
      expect([foreign, response.status]).toEqual([foreign, 403]);
      if (!('accept' in headers))
        expect(await problemOf(response)).toMatchObject({ code: 'cross_site_request' });
    }
    expect(await countPastes(bed.db)).toBe(before);
  });

  it("is refused also when it claims to be a client of PrivateBin's, and such a client is served", async () => {
    const send = (headers: Record<string, string>) =>
      fetch(bed.api.url, {
        method: 'POST',
        headers: { 'x-requested-with': 'JSONHttpRequest', ...headers },
        body: recordedBody('text'),
      });
    const before = await countPastes(bed.db);
    expect(await (await send(FOREIGN)).json()).toMatchObject({ status: 1 });
    expect(await countPastes(bed.db)).toBe(before);
    expect(await (await send({})).json()).toMatchObject({ status: 0 });
  });
});

it('a client with a token is no page of another site, whatever else it sends', async () => {
  const { url } = await startForOwnPages();
  const { headers } = await newUser(bed.db);
  for (const foreign of [FOREIGN, { origin: 'app://client' }, { 'sec-fetch-site': 'cross-site' }] as Record<
    string,
    string
  >[]) {
    const send = (authorization: Record<string, string>) =>
      fetch(url, { method: 'POST', body: 'x', headers: { ...foreign, ...authorization } });
    expect((await send(headers)).status).toBe(201);
    expect((await send({ authorization: 'Basic dXNlcjpwYXNz' })).status).toBe(403);
  }
});

it('a page of the service, and a program that says nothing of a page, create pastes', async () => {
  for (const headers of [
    {},
    { 'sec-fetch-site': 'same-origin', origin: bed.api.url },
    { 'sec-fetch-site': 'none' },
    { origin: bed.api.url },
  ] as Record<string, string>[])
    expect((await fetch(bed.api.url, { method: 'POST', body: 'x', headers })).status).toBe(201);
});
