import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AUDIENCE, OidcIssuer } from '@pasteflow/dev-stack/testing/oidc';
import { ensureUser, eraseUser } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { ownForm, ownPage } from './support/http.ts';
import { processedPaste } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { until } from './support/until.ts';
import { newUser, ownToken, revokeTokens, signedInWith } from './support/users.ts';

const bed = useApi();

const create = (headers: Readonly<Record<string, string>>, url = bed.api.url) =>
  fetch(`${url}/v1/pastes`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/plain' },
    body: 'x',
  });
const erasures = async (userId: string) =>
  (await bed.db.selectFrom('erasures').select('status').where('user_id', '=', userId).execute()).length;

async function newBrowser(name: string) {
  const user = await newUser(bed.db, { name });
  const cookie = await signedInWith(bed.db, user.token);
  return { ...user, browse: (path: string, init?: RequestInit) => browseAs(bed.api, cookie, path, init) };
}

describe('GET /my/account', () => {
  it('shows the name, an export, and then the erasure', async () => {
    const { browse } = await newBrowser('anna <b>');
    const markup = await (await browse('/my/account')).text();
    expect(markup).toContain('<bdi>anna &lt;b&gt;</bdi>');
    for (const path of ['/my/pastes', '/my/jobs', '/my/sessions']) expect(markup).toContain(`href="${path}"`);
    const [signOut, takeOut, erase] = ['session/end', 'my/jobs/export', 'my/account/erase'].map((path) =>
      markup.lastIndexOf(`action="/${path}"`),
    );
    expect([signOut! > 0, takeOut! > signOut!, erase! > takeOut!]).toEqual([true, true, true]);
  });

  it('asks who is not signed in to sign in', async () => {
    expect((await fetch(`${bed.api.url}/my/account`)).status).toBe(401);
  });
});

describe('POST /my/account/erase', () => {
  it.each([
    ['another name', { name: 'Ben' }],
    ['no name', {}],
  ])('with %s changes nothing', async (_what, fields) => {
    const { id, browse } = await newBrowser(`ben ${Object.keys(fields).length}`);
    const { status, headers } = await browse('/my/account/erase', ownForm(bed.api.url, fields));
    expect([status, headers.get('clear-site-data')]).toEqual([422, null]);
    expect(await erasures(id)).toBe(0);
    expect((await browse('/my/account')).status).toBe(200);
  });

  it('shows the form again, with what is wrong beside the field', async () => {
    const { browse } = await newBrowser('bert');
    const answer = await browse('/my/account/erase', ownForm(bed.api.url, { name: 'Bert' }));
    expect(await answer.text()).toMatch(/action="\/my\/account\/erase"[^]*This is not your name/);
  });

  it('from another site changes nothing', async () => {
    const { id, browse } = await newBrowser('cleo');
    const form = ownForm(bed.api.url, { name: 'cleo' });
    const foreign = {
      ...(form.headers as Record<string, string>),
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    };
    expect((await browse('/my/account/erase', { ...form, headers: foreign })).status).toBeGreaterThanOrEqual(
      401,
    );
    expect(await erasures(id)).toBe(0);
  });

  it.each(['read', 'write'] as const)('by a token of its user that may %s changes nothing', async (scope) => {
    const name = `hans ${scope}`;
    const user = await newUser(bed.db, { name });
    const { token, headers } = await ownToken(bed.db, user, scope);
    const cookie = await signedInWith(bed.db, token);
    const form = ownForm(bed.api.url, { name });
    const both = { ...form, headers: { ...(form.headers as Record<string, string>), ...headers } };
    const answers = [
      await browseAs(bed.api, cookie, '/my/account/erase', form),
      await fetch(`${bed.api.url}/my/account/erase`, both),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(await erasures(user.id)).toBe(0);
    const page = await (await browseAs(bed.api, cookie, '/my/account')).text();
    expect([page.includes('my/account/erase'), page.includes('my/jobs/export')]).toEqual([false, true]);
  });

  it('ends tokens and sessions with its answer, and lets nothing be created any more', async () => {
    const { id, headers, browse } = await newBrowser('dora');
    const code = await processedPaste(bed, 'of dora', { userId: id });
    const answer = await browse('/my/account/erase', ownForm(bed.api.url, { name: 'dora' }));
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
      200,
      'pasteflow=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    ]);
    expect(await answer.text()).toContain('<h1>You are erased</h1>');
    expect(await erasures(id)).toBe(1);
    expect((await browse('/my/pastes')).status).toBe(401);
    expect((await create(headers)).status).toBe(401);
    const { id: later } = await newUser(bed.db, { name: 'dora' });
    expect(later).not.toBe(id);
    expect((await fetch(`${bed.api.url}/v1/pastes/${code}`)).status).toBe(200); // until the sweep has begun
  });

  it('clears the storage of the origin only where the service has an origin of its own', async () => {
    const below = await bed.start({ env: { PUBLIC_URL: `${bed.api.url}/paste` } });
    for (const [{ url }, expected] of [
      [bed.api, '"storage"'],
      [below, null],
    ] as const) {
      const name = `ida ${expected}`;
      const cookie = await signedInWith(bed.db, (await newUser(bed.db, { name })).token);
      const form = ownForm(bed.api.url, { name });
      const { status, headers } = await browseAs({ url }, cookie, '/my/account/erase', form);
      expect([status, headers.get('clear-site-data')]).toEqual([200, expected]);
    }
  });

  it.each(['session', 'token'])('of which the end comes after that of its %s changes nothing', async (by) => {
    const { id, token, headers } = await newUser(bed.db, { name: `jana ${by}` });
    const cookie = await signedInWith(bed.db, token);
    const tokens = () => bed.db.selectFrom('api_tokens').where('user_id', '=', id).select('last_used_at');
    await bed.db.updateTable('api_tokens').set({ last_used_at: null }).where('user_id', '=', id).execute();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const body = writable.getWriter();
    const sent = new TextEncoder().encode(`name=jana+${by}`);
    void body.write(sent.slice(0, 8));
    const answer = browseAs(bed.api, by === 'session' ? cookie : '', '/my/account/erase', {
      method: 'POST',
      headers: {
        ...ownPage(bed.api.url),
        ...(by === 'token' && headers),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: readable,
      duplex: 'half',
    });
    await until(async () => (await tokens().where('last_used_at', 'is not', null).execute()).length > 0);
    await revokeTokens(bed.db, id);
    await body.write(sent.slice(8));
    await body.close();
    expect([(await answer).status, await erasures(id)]).toEqual([401, 0]);
  });

  it('is done once when it comes twice at once', async () => {
    const { id, browse } = await newBrowser('emil');
    const answers = await Promise.all(
      [1, 2].map(() => browse('/my/account/erase', ownForm(bed.api.url, { name: 'emil' }))),
    );
    for (const { status } of answers) expect([200, 401, 422]).toContain(status);
    expect(await erasures(id)).toBe(1);
  });

  it('leaves none of many creations at once behind it', async () => {
    const { id, headers, browse } = await newBrowser('fred');
    const creating = Array.from({ length: 30 }, () => create(headers));
    const erased = await browse('/my/account/erase', ownForm(bed.api.url, { name: 'fred' }));
    expect(erased.status).toBe(200);
    const begun = await bed.db.selectFrom('pastes').select('id').where('user_id', '=', id).execute();
    const answers = await Promise.all(creating);
    for (const { status } of answers) expect([201, 401]).toContain(status);
    // What was answered 201 was there when the erasure was answered, and nothing has come since.
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(begun.length);
    expect(await bed.db.selectFrom('pastes').select('id').where('user_id', '=', id).execute()).toEqual(begun);
  });
});

describe('a user of the identity provider', () => {
  let issuer: OidcIssuer;
  beforeAll(async () => {
    for (const name of ['warn', 'info'] as const) jest.spyOn(console, name).mockImplementation(() => {}); // the provider's advice
    issuer = await OidcIssuer.start(['gina']);
  });
  afterAll(() => issuer.down());

  it('has nothing left after the erasure, and is a new user, by the same access token', async () => {
    const { url } = await bed.start({ env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE } });
    const headers = { authorization: `Bearer ${await issuer.token('gina')}` };
    const pastes = async () => {
      const list = (await (await fetch(`${url}/v1/pastes`, { headers })).json()) as { pastes: unknown[] };
      return list.pastes.length;
    };
    expect([(await create(headers, url)).status, await pastes()]).toEqual([201, 1]);
    const id = await ensureUser(bed.db, `${issuer.url}#gina`);
    await eraseUser(bed.db, id);
    expect(await pastes()).toBe(0);
    expect([(await create(headers, url)).status, await pastes()]).toEqual([201, 1]);
    expect(await ensureUser(bed.db, `${issuer.url}#gina`)).not.toBe(id);
  });
});
