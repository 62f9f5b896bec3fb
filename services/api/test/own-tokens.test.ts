import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_OWN_TOKENS } from '@pasteflow/domain';
import { createApiToken, listApiTokens } from '@pasteflow/postgres';
import { hashOfSecret, newApiToken } from '../src/http/callers/secret.ts';
import { useApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, ownToken, signedInWith, spentToken, type TestUser } from './support/users.ts';

const bed = useApi();

interface Token {
  readonly id: string;
  readonly token: string;
  readonly scope: string;
  readonly expires_at: string;
  readonly is_this: boolean;
}

let user: TestUser;
let reader: TestUser;
let writer: TestUser;
beforeAll(async () => {
  user = await newUser(bed.db);
  reader = await ownToken(bed.db, user, 'read');
  writer = await ownToken(bed.db, user, 'write');
});

const call = (
  method: string,
  path: string,
  { headers }: Pick<TestUser, 'headers'> = user,
  body?: object,
): Promise<Response> =>
  fetch(bed.api.url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const make = (fields: object, as: Pick<TestUser, 'headers'> = user) =>
  call('POST', '/v1/tokens', as, { name: 'laptop', scope: 'write', ...fields });
const made = async (...args: Parameters<typeof make>) => {
  const response = await make(...args);
  expect(response.status).toBe(201);
  return (await response.json()) as Token;
};
const listed = async (as: Pick<TestUser, 'headers'> = user) =>
  ((await (await call('GET', '/v1/tokens', as)).json()) as { tokens: Token[] }).tokens;
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const answerOf = async (response: Promise<Response>) => {
  const { status, code } = await problemOf(await response);
  return [status, code];
};
const daysUntil = (at: string) => Math.round((Date.parse(at) - Date.now()) / 86_400_000);

describe('POST /v1/tokens', () => {
  it('makes a token that is shown once, and stored only as its hash', async () => {
    const { id, token, ...rest } = await made({ name: ' my laptop ', expires_in: 86_400 });
    expect(rest).toMatchObject({ name: 'my laptop', scope: 'write', last_used_at: null, is_this: false });
    expect(daysUntil(rest.expires_at)).toBe(1);
    expect((await call('GET', '/v1/pastes', as(token))).status).toBe(200);
    const row = await bed.db.selectFrom('api_tokens').selectAll().where('id', '=', id).executeTakeFirst();
    expect(row!.token_hash).toEqual(hashOfSecret(token));
    expect(JSON.stringify([row, bed.api.logs, await listed()])).not.toContain(token);
  });

  it('lets a token last for 90 days unless asked otherwise, and as long as the operator allows', async () => {
    expect(daysUntil((await made({})).expires_at)).toBe(90);
    expect(daysUntil((await made({ expires_in: 3650 * 86_400 })).expires_at)).toBe(365);
    const { url } = await bed.start({ house: { max_token_days: 7 } });
    const response = await fetch(`${url}/v1/tokens`, {
      method: 'POST',
      headers: { ...user.headers, 'content-type': 'application/json' },
      body: '{"name":"x","scope":"read"}',
    });
    expect(daysUntil(((await response.json()) as Token).expires_at)).toBe(7);
  });

  it('lets no token outlive its maker', async () => {
    const token = newApiToken();
    const { expiresAt } = await createApiToken(bed.db, {
      userName: randomUUID(),
      name: 'short',
      tokenHash: hashOfSecret(token),
      expiresInSeconds: 600,
    });
    expect((await made({}, as(token))).expires_at).toBe(expiresAt!.toISOString());
  });

  it('is refused to tokens that users have made, and to their browsers, for any scope', async () => {
    for (const maker of [reader, writer])
      for (const scope of ['read', 'write'])
        expect(await answerOf(make({ scope }, maker))).toEqual([403, 'insufficient_scope']);
    const cookie = await signedInWith(bed.db, writer.token);
    const form = ownForm(bed.api.url, { name: 'x', scope: 'read', expires_in: '60' });
    const page = await browseAs(bed.api, cookie, '/my/tokens', form);
    expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('it makes no tokens')]);
  });

  it('is refused to everybody where the operator makes all tokens', async () => {
    const { url } = await bed.start({ house: { max_token_days: 0 } });
    const cookie = await signedInWith(bed.db, user.token);
    const page = await (await browseAs({ url }, cookie, '/my/tokens')).text();
    expect(page).toContain('The operator of this service makes all tokens.');
    expect(page).not.toContain('Make the token');
    const response = fetch(`${url}/v1/tokens`, {
      method: 'POST',
      headers: { ...user.headers, 'content-type': 'application/json' },
      body: '{"name":"x","scope":"read"}',
    });
    expect(await answerOf(response)).toEqual([403, 'insufficient_scope']);
  });

  it('says which token is one too many, and stores exactly the bound of twenty at once', async () => {
    const busy = await newUser(bed.db);
    for (let i = 5; i < MAX_OWN_TOKENS; i += 1) await ownToken(bed.db, busy);
    const answers = await Promise.all(Array.from({ length: 20 }, () => make({}, busy)));
    const statuses = answers.map(({ status }) => status);
    expect([201, 409].map((status) => statuses.filter((each) => each === status).length)).toEqual([5, 15]);
    const refused = await problemOf(answers.find(({ status }) => status === 409)!);
    expect([refused.code, refused.detail]).toEqual([
      'token_limit_reached',
      expect.stringContaining(`${MAX_OWN_TOKENS} tokens`),
    ]);
    expect(await listed(busy)).toHaveLength(MAX_OWN_TOKENS + 1);
  });

  it.each([
    [{ name: '' }],
    [{ name: '   ' }],
    [{ name: 'a\nb' }],
    [{ name: 'a\u202eb' }],
    [{ name: 'a\u200bb' }],
    [{ name: 'a\u061cb' }],
    [{ name: 'a\u200fb' }],
    [{ name: 'a\u3164b' }],
    [{ name: 'x'.repeat(101) }],
    [{ scope: 'full' }],
    [{ scope: undefined }],
    [{ expires_in: 59 }],
    [{ expires_in: 'never' }],
    [{ expires_in: 3650 * 86_400 + 1 }],
    [{ user_id: randomUUID() }],
  ])('refuses %j', async (fields) => {
    expect(await answerOf(make(fields))).toEqual([422, 'validation_failed']);
  });
});

describe('GET /v1/tokens', () => {
  it('lists the good tokens of the caller and marks the one that asks', async () => {
    const own = await newUser(bed.db);
    const first = await made({ scope: 'read' }, own);
    await spentToken(bed.db, own.id, 'expired');
    await spentToken(bed.db, own.id, 'revoked');
    const list = await listed(as(first.token));
    expect(list.map(({ id, scope, is_this: isThis }) => [id === first.id, scope, isThis])).toEqual([
      [true, 'read', true],
      [false, 'full', false],
    ]);
  });
});

describe('DELETE /v1/tokens/:id', () => {
  it('ends a token at once on each copy of the api, with the browser that it has signed in', async () => {
    const other = await bed.start();
    const { id, token } = await made({});
    const cookie = await signedInWith(bed.db, token);
    const useAt = async (url: string) =>
      (await fetch(`${url}/v1/pastes`, { headers: as(token).headers })).status;
    expect([await useAt(bed.api.url), await useAt(other.url)]).toEqual([200, 200]);
    expect((await call('DELETE', `/v1/tokens/${id.toUpperCase()}`)).status).toBe(204);
    expect([await useAt(bed.api.url), await useAt(other.url)]).toEqual([401, 401]);
    expect((await browseAs(bed.api, cookie, '/my/pastes')).status).toBe(401);
    const { detail } = await problemOf(await call('GET', '/v1/pastes', as(token)));
    expect(detail).toContain('expired or revoked');
  });

  it('is done by one of two at once, and the other gets 404', async () => {
    const { id } = await made({});
    const answers = await Promise.all([1, 2].map(() => call('DELETE', `/v1/tokens/${id}`)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404]);
    const lost = answers.find(({ status }) => status === 404)!;
    expect((await problemOf(lost)).detail).toContain('it was revoked before');
  });

  it('finds no token of another user, no session, and nothing for a text that is no id', async () => {
    const other = await newUser(bed.db);
    await signedInWith(bed.db, user.token);
    const { id: session } = await bed.db
      .selectFrom('api_tokens')
      .select('id')
      .where('user_id', '=', user.id)
      .where('is_session', '=', true)
      .executeTakeFirstOrThrow();
    const [{ id: ofAnother }] = (await listed(other)) as [Token];
    for (const id of [ofAnother, session, randomUUID(), "x' OR true"])
      expect(await answerOf(call('DELETE', `/v1/tokens/${encodeURIComponent(id)}`))).toEqual([
        404,
        'token_not_found',
      ]);
    expect(await listed(other)).toHaveLength(1);
  });

  it('lets a token that its user has made revoke itself and no other', async () => {
    for (const scope of ['read', 'write'] as const) {
      const own = await ownToken(bed.db, user, scope);
      const [, { id: other }] = (await listed()) as [Token, Token];
      expect(await answerOf(call('DELETE', `/v1/tokens/${other}`, own))).toEqual([403, 'insufficient_scope']);
      expect((await call('DELETE', `/v1/tokens/${own.id}`, own)).status).toBe(204);
      expect((await call('GET', '/v1/pastes', own)).status).toBe(401);
    }
  });

  it('ends the tokens that a token has made', async () => {
    const own = await newUser(bed.db);
    const child = await made({}, own);
    const [{ id }] = (await listed(own)).filter(({ scope }) => scope === 'full') as [Token];
    expect((await call('DELETE', `/v1/tokens/${id}`, own)).status).toBe(204);
    expect((await call('GET', '/v1/pastes', as(child.token))).status).toBe(401);
    const { name } = await bed.db
      .selectFrom('users')
      .select('name')
      .where('id', '=', own.id)
      .executeTakeFirstOrThrow();
    expect((await listApiTokens(bed.db, name))!.map(({ state }) => state)).toEqual(['revoked', 'revoked']);
  });
});

it('a user gets no further limits by making tokens', async () => {
  const { url } = await bed.start({ env: { RATE_LIMIT_CREATIONS_PER_MINUTE: '3' } });
  const busy = await newUser(bed.db);
  const tokens = await Promise.all([1, 2, 3, 4].map(() => ownToken(bed.db, busy)));
  const statuses = await Promise.all(
    tokens.map(async ({ headers }) => (await fetch(url, { method: 'POST', headers, body: 'x' })).status),
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 201, 429]);
});
