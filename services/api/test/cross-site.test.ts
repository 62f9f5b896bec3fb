import { describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { countPastes } from './support/pastes.ts';
import { recordedBody } from './support/recorded-pastes.ts';
import { newUser } from './support/users.ts';

const bed = useApi();
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
    const before = await countPastes(bed.db);
    for (const foreign of [
      FOREIGN,
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      const response = await fetch(bed.api.url + path, {
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
  const { headers } = await newUser(bed.db);
  for (const foreign of [FOREIGN, { origin: 'app://client' }, { 'sec-fetch-site': 'cross-site' }] as Record<
    string,
    string
  >[]) {
    const send = (authorization: Record<string, string>) =>
      fetch(bed.api.url, { method: 'POST', body: 'x', headers: { ...foreign, ...authorization } });
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
