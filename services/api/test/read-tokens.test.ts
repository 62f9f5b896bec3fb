import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { accessTable } from './support/access-table.ts';
import { problemOf } from './support/http.ts';
import { newPaste, processedPaste, upload } from './support/pastes.ts';
import { recordedBody, storedTextOf } from './support/recorded-pastes.ts';
import { newRequest } from './support/secret-requests.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, ownToken, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();

let user: TestUser;
let reader: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
  reader = await ownToken(bed.db, user, 'read');
});

describe('a token that only reads', () => {
  const writes = Object.keys(accessTable).filter((endpoint) => !endpoint.startsWith('GET '));

  it.each(writes)('changes nothing by %s', async (endpoint) => {
    const { path, init } = await accessTable[endpoint]![0]!.prepare(bed, user);
    const [method] = endpoint.split(' ') as [string];
    const response = await fetch(bed.api.url + path, {
      ...init,
      method,
      headers: { ...(init?.headers as Record<string, string>), ...reader.headers },
      redirect: 'manual',
    });
    expect(await problemOf(response)).toMatchObject({ status: 403, code: 'insufficient_scope' });
  });

  it('reads what is its user’s, and burns nothing by a GET of PrivateBin’s clients', async () => {
    const code = await processedPaste(bed, 'mine', { userId: user.id, visibility: 'private' });
    const content = await fetch(`${bed.api.url}/v1/pastes/${code}/content`, { headers: reader.headers });
    expect(await content.text()).toBe('mine');
    const burned = await sealed(user);
    const read = (headers: Record<string, string>) =>
      fetch(`${bed.api.url}/?${burned}`, { headers: { 'x-requested-with': 'JSONHttpRequest', ...headers } });
    expect((await read(reader.headers)).status).toBe(403);
    expect((await read((await ownToken(bed.db, user, 'write')).headers)).status).toBe(200);
  });

  /** An encrypted paste of the user that is burned when it is read. */
  async function sealed({ headers }: TestUser): Promise<string> {
    const body = recordedBody('burn');
    const client = { 'x-requested-with': 'JSONHttpRequest', ...headers };
    const { id } = (await (await fetch(bed.api.url, { method: 'POST', headers: client, body })).json()) as {
      id: string;
    };
    await upload(bed.db, bed.store, id, storedTextOf(body));
    return id;
  }

  it('is told so on each page on which its browser could type what it can’t send', async () => {
    const cookie = await signedInWith(bed.db, reader.token);
    const writer = await signedInWith(bed.db, (await ownToken(bed.db, user, 'write')).token);
    const code = await processedPaste(bed, 'text', { userId: user.id });
    const { id } = await newRequest(bed.api.url, user);
    const ofPaste = ['new', 'edit', 'change', 'report'].map((page) => `/${code}/${page}`);
    for (const path of ['/', ...ofPaste, '/my/jobs', '/my/requests', `/requests/${id}`]) {
      const shown = await (await browseAs(bed.api, cookie, path)).text();
      expect([path, shown.includes('a token that may only read')]).toEqual([path, true]);
      expect(await (await browseAs(bed.api, writer, path)).text()).not.toContain(
        'a token that may only read',
      );
    }
    expect(await (await browseAs(bed.api, cookie, `/requests/${id}`)).text()).not.toContain('<textarea');
  });

  it('can’t sign a browser in that may do more, and the browser can sign out', async () => {
    const cookie = await signedInWith(bed.db, reader.token);
    const code = await newPaste(bed.db, 'x', { userId: user.id });
    const origin = { origin: bed.api.url };
    const remove = await browseAs(bed.api, cookie, `/v1/pastes/${code}`, {
      method: 'DELETE',
      headers: origin,
    });
    expect(remove.status).toBe(403);
    const end = await browseAs(bed.api, cookie, '/session/end', { method: 'POST', headers: origin });
    expect(end.status).toBe(303);
  });
});
