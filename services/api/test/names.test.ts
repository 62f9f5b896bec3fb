import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { eraseUser } from '@pasteflow/postgres';
import { OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { personOf } from '../src/http/callers/person.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { ownForm } from './support/http.ts';
import {
  answerJson,
  beginSignIn,
  browseAs,
  callBack,
  sessionIn,
  signInAtProvider,
  startOidcApi,
} from './support/sign-in.ts';

const bed = useApi();
let issuer: OidcIssuer;
let api: RunningApi;

beforeAll(async () => {
  for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
  issuer = await OidcIssuer.start([]);
});
afterAll(() => issuer?.down());
beforeEach(async () => {
  issuer.namesOnRequest = false;
  issuer.instead.clear();
  api = await startOidcApi(bed, issuer);
});

/** Signs somebody in whom the provider knows by these claims, and returns the cookie. */
async function signIn(subject: string, claims: Readonly<Record<string, unknown>>, at = api): Promise<string> {
  issuer.claimsOf.set(subject, claims);
  const begun = await beginSignIn(at);
  const response = await callBack(at, await signInAtProvider(issuer, begun, { name: subject }), begun.cookie);
  expect(response.status).toBe(200);
  return `pasteflow=${sessionIn(response)}`;
}

const userOf = async (subject: string) =>
  await bed.db
    .selectFrom('users')
    .selectAll()
    .where('name', '=', `${issuer.url}#${subject}`)
    .executeTakeFirstOrThrow();

const shownNameOf = async (subject: string) => (await userOf(subject)).shown_name;

describe('the name of a person', () => {
  it.each([false, true])(
    'is kept at each sign-in, cleaned; from the provider on request: %j',
    async (onRequest) => {
      issuer.namesOnRequest = onRequest;
      await startOidcApi(bed, issuer).then((started) => (api = started));
      await signIn(`anna ${onRequest}`, { name: '\u202e Anna\u200b  Adler ' });
      expect(await shownNameOf(`anna ${onRequest}`)).toBe('Anna Adler');
      await signIn(`anna ${onRequest}`, { name: 'Anna Berg' });
      expect(await shownNameOf(`anna ${onRequest}`)).toBe('Anna Berg');
      await signIn(`anna ${onRequest}`, { name: '\u200b' });
      expect(await shownNameOf(`anna ${onRequest}`)).toBeNull();
      await signIn(`anna ${onRequest}`, {});
      expect(await shownNameOf(`anna ${onRequest}`)).toBeNull();
    },
  );

  it('is shown to its user, with the provider that says so, and confirms the erasure', async () => {
    const cookie = await signIn('5c1e', { name: 'Anna <b>Adler' });
    const page = await (await browseAs(api, cookie, '/my/account')).text();
    const host = new URL(issuer.url).host;
    expect(page).toContain('<bdi>Anna &lt;b&gt;Adler</bdi><span class="initial"');
    expect(page).toContain(`\u2068Anna &lt;b&gt;Adler\u2069, as \u2068${host}\u2069 says`);
    expect(page).not.toContain('5c1e');
    const form = await (await browseAs(api, cookie, '/')).text();
    expect(form).toContain('data-viewer="5c1e"'); // a name that another user may have tells no drafts apart
    const erase = async (name: string) =>
      await browseAs(api, cookie, '/my/account/erase', ownForm(api.url, { name }));
    expect((await erase('5c1e')).status).toBe(422);
    expect((await erase('Anna <b>Adler')).status).toBe(200);
    const gone = await bed.db
      .selectFrom('users')
      .select('shown_name')
      .where('name', 'like', 'erased %')
      .execute();
    expect(gone).toContainEqual({ shown_name: null });
    expect(gone).not.toContainEqual({ shown_name: expect.anything() });
  });

  it('identifies nobody: two may have the same one, or that of a user of the operator', async () => {
    const cookies = [await signIn('one', { name: 'alice' }), await signIn('two', { name: 'alice' })];
    expect((await userOf('one')).id).not.toBe((await userOf('two')).id);
    for (const cookie of cookies)
      expect(await (await browseAs(api, cookie, '/my/account')).text()).toMatch(/, as .+ says/);
    expect(personOf({ userName: 'alice', shownName: 'bob' })).toEqual({ name: 'alice', issuer: null });
  });

  it('is nothing that a failing provider can refuse somebody for; the name of before stays', async () => {
    issuer.namesOnRequest = true;
    api = await startOidcApi(bed, issuer);
    await signIn('kim', { name: 'Kim' });
    const answers: readonly ((res: ServerResponse) => void)[] = [
      (res) => answerJson(res, { sub: 'another', name: 'Eve' }),
      (res) => res.writeHead(500).end('Kim'),
      (res) => res.destroy(),
    ];
    for (const answer of answers) {
      issuer.instead.set('/me', (_, res) => answer(res));
      await signIn('kim', { name: 'Eve' });
      expect(await shownNameOf('kim')).toBe('Kim');
    }
    const logs = api.logs.filter(({ message }) => message === 'name of a user not read');
    expect(logs).toHaveLength(3);
  });

  it('is in no log', async () => {
    await signIn('secret agent', { name: 'Mata Hari' });
    expect(JSON.stringify(api.logs)).not.toContain('Mata');
  });

  it('comes from the claim that the operator names; off: from none, and the provider is asked for less', async () => {
    const claims = { name: 'Anna Adler', preferred_username: 'anna' };
    api = await startOidcApi(bed, issuer, { env: { OIDC_NAME_CLAIM: 'preferred_username' } });
    await signIn('7f', claims);
    expect(await shownNameOf('7f')).toBe('anna');
    api = await startOidcApi(bed, issuer, { env: { OIDC_NAME_CLAIM: 'off' } });
    expect((await beginSignIn(api)).url.searchParams.get('scope')).toBe('openid');
    const before = issuer.requests.length;
    await signIn('7f', claims);
    expect(await shownNameOf('7f')).toBeNull();
    expect(issuer.requests.slice(before)).not.toContain('/me');
  });

  it('does not come back to an erased user, whose subject becomes a new one', async () => {
    await signIn('eva', { name: 'Eva' });
    const { id } = await userOf('eva');
    await eraseUser(bed.db, id);
    await signIn('eva', { name: 'Eva again' });
    const { shown_name: erased } = await bed.db
      .selectFrom('users')
      .select('shown_name')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect([erased, await shownNameOf('eva')]).toEqual([null, 'Eva again']);
  });
});

it('a user whom the provider does not name is called by the subject', () => {
  const issuerUrl = 'https://login.example.org/realms/a';
  expect(personOf({ userName: `${issuerUrl}#5c1e`, shownName: null })).toEqual({
    name: '5c1e',
    issuer: issuerUrl,
  });
  expect(personOf({ userName: 'alice', shownName: null })).toEqual({ name: 'alice', issuer: null });
});
