import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { rawExchange } from './support/http.ts';
import { countPastes, processedPaste } from './support/pastes.ts';
import { newUser } from './support/users.ts';

const bed = useApi();
const APP = 'https://app.example.org';
/** What a browser adds to a request of a script of another site. */
const FETCH = { origin: APP, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
const JSON_TYPE = { 'content-type': 'application/json' };

const allowed = ({ headers }: Response) => headers.get('access-control-allow-origin');
const preflight = (url: string, method: string) =>
  fetch(url, {
    method: 'OPTIONS',
    headers: { ...FETCH, 'access-control-request-method': method },
  });
const create = (headers: Record<string, string>, url = bed.api.url) =>
  fetch(`${url}/v1/pastes`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: '{"content":"x"}',
  });

describe('a script of another site', () => {
  it('creates a paste and reads it, its metadata and its problems', async () => {
    const asked = await preflight(`${bed.api.url}/v1/pastes`, 'POST');
    expect([asked.status, allowed(asked), asked.headers.get('access-control-allow-headers')]).toEqual([
      204,
      '*',
      '*',
    ]);
    const created = await create(FETCH);
    expect([created.status, allowed(created)]).toEqual([201, '*']);
    const { short_code: code } = (await created.json()) as { short_code: string };
    for (const path of [`/v1/pastes/${code}`, `/v1/pastes/${code}/timeline`, `/${code}`, '/v1/pastes/none']) {
      const read = await fetch(bed.api.url + path, { headers: FETCH });
      await read.arrayBuffer();
      expect([path, allowed(read)]).toEqual([path, '*']);
    }
  });

  it('is allowed no credentials, no list, no job, no deletion and no reveal', async () => {
    const user = await newUser(bed.db);
    const shortCode = await processedPaste(bed, Buffer.from('x'));
    for (const [method, path] of [
      ['GET', '/v1/pastes'],
      ['POST', '/v1/jobs'],
      ['DELETE', `/v1/pastes/${shortCode}`],
      ['POST', `/v1/pastes/${shortCode}/reveal`],
      ['constructor', '/v1/pastes'],
    ] as const) {
      const asked = await preflight(bed.api.url + path, method);
      expect([method, path, asked.status, allowed(asked)]).toEqual([method, path, 405, null]);
      await asked.arrayBuffer();
    }
    const read = await fetch(`${bed.api.url}/v1/pastes`, { headers: { ...FETCH, ...user.headers } });
    expect(allowed(read)).toBeNull();
    const shared = await preflight(`${bed.api.url}/v1/pastes`, 'POST');
    expect(shared.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it.each([
    ['with a cookie', { 'sec-fetch-mode': 'cors', cookie: 'a=b' }],
    ['by a form', { 'sec-fetch-mode': 'navigate' }],
    ['without asking to read the answer', { 'sec-fetch-mode': 'no-cors' }],
    ['when the browser does not say how', {}],
  ])('creates nothing %s', async (_name, how) => {
    const before = await countPastes(bed.db);
    const headers = { host: 'localhost', connection: 'close', 'content-length': '1', origin: APP, ...how };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    // Node's fetch always claims to be a script that asks.
    const refused = await rawExchange(bed.api.port, `POST / HTTP/1.1\r\n${lines.join('')}\r\nx`);
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('cross_site_request')]);
    expect(await countPastes(bed.db)).toBe(before);
  });

  it('gets no page, which names the user who is signed in', async () => {
    const shortCode = await processedPaste(bed, Buffer.from('x'));
    const page = await fetch(`${bed.api.url}/${shortCode}`, { headers: { ...FETCH, accept: 'text/html' } });
    expect([page.headers.get('content-type'), allowed(page)]).toEqual(['text/html; charset=utf-8', null]);
  });
});

describe('CORS_ORIGINS', () => {
  it('of one site allows its scripts, and no others', async () => {
    const api = await bed.start({ env: { CORS_ORIGINS: `https://b.example.org, ${APP}` } });
    const created = await create(FETCH, api.url);
    expect([created.status, allowed(created), created.headers.get('vary')]).toEqual([201, APP, 'Origin']);
    const refused = await create({ ...FETCH, origin: 'https://app.example.org.evil.example' }, api.url);
    expect([refused.status, allowed(refused), refused.headers.get('vary')]).toEqual([403, null, 'Origin']);
    expect((await preflight(`${api.url}/v1/pastes`, 'POST')).status).toBe(204);
  });

  it('of none allows none', async () => {
    const api = await bed.start({ env: { CORS_ORIGINS: 'none' } });
    const refused = await create(FETCH, api.url);
    expect([refused.status, allowed(refused)]).toEqual([403, null]);
    expect((await preflight(`${api.url}/v1/pastes`, 'POST')).status).toBe(405);
  });

  it.each(['https://app.example.org/', 'app.example.org', 'null', '*,https://a.example'])(
    'refuses %j, and says what to set',
    async (wrong) => {
      await expect(bed.start({ env: { CORS_ORIGINS: wrong } })).rejects.toThrow(
        /CORS_ORIGINS.*origins like https:\/\/app\.example\.org/,
      );
    },
  );
});
