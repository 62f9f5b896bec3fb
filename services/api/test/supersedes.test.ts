import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { ownPage, postJson, postRaw, problemOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import {
  deletedPaste,
  expire,
  failedPaste,
  newPaste,
  pasteRow,
  processedPaste,
  settle,
  upload,
  type Ownership,
} from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
const TOKEN = { 'delete-token': 'the token' };
let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

type Headers = Readonly<Record<string, string>>;
interface Created {
  readonly short_code: string;
  readonly delete_token?: string;
  readonly [field: string]: unknown;
}

const own = (content: string, of: Ownership = {}) =>
  processedPaste(bed, content, { userId: owner.id, ...of });
const save = (supersedes: string, headers: Headers = owner.headers, fields: object = {}) =>
  postJson(bed.api.url, { content: 'newer', supersedes, ...fields }, headers);
async function created(answer: Response | Promise<Response>): Promise<Created> {
  const response = await answer;
  const body = (await response.json()) as Created;
  expect({ status: response.status, body }).toMatchObject({ status: 201 });
  return body;
}
const refused = async (answer: Promise<Response>) => await problemOf(await answer);
const viewOf = async (code: string, headers: Headers = {}) =>
  (await (await fetch(`${bed.api.url}/v1/pastes/${code}`, { headers })).json()) as Created;
const idOf = async (code: string) => (await pasteRow(bed.db, code))!.id;
const remove = async (code: string) => requestDeletion(bed.db, await idOf(code));
const store = (code: string) => upload(bed.db, bed.store, code, 'newer');

describe('a paste that supersedes another', () => {
  it('has it as its parent, and takes its title, language, readers and time where nothing else is said', async () => {
    const older = await created(
      postJson(
        bed.api.url,
        { content: 'x', title: 'Notes', syntax: 'rust', visibility: 'private', expires_in: 7200 },
        owner.headers,
      ),
    );
    await store(older.short_code);
    const newer = await created(save(older.short_code));
    expect(newer).toMatchObject({
      title: 'Notes',
      syntax: 'rust',
      visibility: 'private',
      parent: older.short_code,
      supersedes: older.short_code,
    });
    expect(
      Math.abs(Date.parse(newer['expires_at'] as string) - Date.parse(older['expires_at'] as string)),
    ).toBeLessThan(600_000);
    await remove(newer.short_code);
    const said = { title: null, syntax: '', visibility: 'unlisted', expires_in: 'never' };
    expect(await created(save(older.short_code, owner.headers, said))).toMatchObject({
      title: null,
      syntax: null,
      visibility: 'unlisted',
      expires_at: null,
    });
  });

  it('lives for a minute at least, and for ever after a paste that never expires', async () => {
    const brief = await own('brief');
    await sql`UPDATE pastes SET expires_at = now() + interval '20 s' WHERE short_code = ${brief}`.execute(
      bed.db,
    );
    const { created_at: from, expires_at: until } = await created(save(brief));
    expect(Date.parse(until as string) - Date.parse(from as string)).toBe(60_000);
    const lasting = await own('lasting');
    await sql`UPDATE pastes SET expires_at = NULL WHERE short_code = ${lasting}`.execute(bed.db);
    expect(await created(save(lasting))).toMatchObject({ expires_at: null });
  });

  it('is created from a query, and from the form of a page with the delete token as a field', async () => {
    const anonymous = await processedPaste(bed, 'anonymous');
    const byQuery = await fetch(`${bed.api.url}/v1/pastes?supersedes=${anonymous}&title=Said`, {
      method: 'POST',
      headers: TOKEN,
      body: 'newer',
    });
    const first = await created(byQuery);
    expect(first).toMatchObject({ title: 'Said', supersedes: anonymous, delete_token: expect.any(String) });
    await store(first.short_code);
    const post = (token: string) => {
      const body = new FormData();
      for (const [name, value] of Object.entries({
        text: 'by form',
        supersedes: first.short_code,
        delete_token: token,
      }))
        body.set(name, value);
      return fetch(`${bed.api.url}/`, {
        method: 'POST',
        headers: { accept: 'text/html', ...ownPage(bed.api.url) },
        body,
      });
    };
    expect((await post('the token')).status).toBe(401); // each version has a token of its own
    expect((await post(first.delete_token!)).status).toBe(201);
    const row = await bed.db
      .selectFrom('pastes')
      .select(['title', 'delete_token_hash'])
      .where('supersedes', '=', first.short_code)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ title: 'Said', delete_token_hash: expect.any(Buffer) });
  });

  it('belongs to the user who holds the delete token of an anonymous paste', async () => {
    const anonymous = await processedPaste(bed, 'anonymous');
    const newer = await created(save(anonymous, { ...owner.headers, ...TOKEN }));
    expect(newer.delete_token).toBeUndefined();
    expect((await pasteRow(bed.db, newer.short_code))!.user_id).toBe(owner.id);
  });

  it('is refused to everybody else', async () => {
    const mine = await own('mine');
    const anonymous = await processedPaste(bed, 'anonymous');
    for (const [code, headers] of [
      [mine, {}],
      [mine, TOKEN],
      [mine, other.headers],
      [mine, { ...other.headers, ...TOKEN }],
      [anonymous, {}],
      [anonymous, owner.headers],
      [anonymous, { 'delete-token': 'a guess' }],
    ] as const)
      expect(await refused(save(code, headers))).toMatchObject({ status: 401, code: 'unauthorized' });
    const secret = await own('secret', { visibility: 'private' });
    for (const headers of [{}, other.headers])
      expect(await refused(save(secret, headers))).toMatchObject({ status: 422, code: 'parent_not_found' });
    expect(await viewOf(mine)).toMatchObject({ superseded_by: null });
  });

  it('is refused for a paste that is not stored, or held, encrypted, read once, failed or gone', async () => {
    const held = await own('held');
    await sql`UPDATE pastes SET held_at = now() WHERE short_code = ${held}`.execute(bed.db);
    const encrypted = await own('encrypted');
    await sql`UPDATE pastes SET encrypted = true WHERE short_code = ${encrypted}`.execute(bed.db);
    const expired = await own('expired');
    await expire(bed.db, expired);
    const gone = await own('gone');
    await remove(gone);
    const cases: readonly (readonly [string, number, string])[] = [
      [await newPaste(bed.db, 'x', { userId: owner.id }), 503, 'paste_in_progress'],
      [held, 451, 'paste_held'],
      [encrypted, 422, 'validation_failed'],
      [await own('once', { burn: true }), 422, 'validation_failed'],
      [await failedPaste(bed.db, { userId: owner.id }), 422, 'parent_not_found'],
      [expired, 422, 'parent_not_found'],
      [gone, 422, 'parent_not_found'],
      ['doesNotExist', 422, 'parent_not_found'],
      ['not a code', 422, 'validation_failed'],
    ];
    for (const [code, status, problem] of cases)
      expect([code, await refused(save(code))]).toMatchObject([code, { status, code: problem }]);
  });

  it('is refused with options that a version can not have', async () => {
    const older = await own('older', { slug: 'named-once' });
    for (const [path, fields] of [
      ['burn', { burn: true }],
      ['parent', { parent: await own('another') }],
      ['slug', { slug: 'another-name' }],
    ] as const)
      expect(await refused(save(older, owner.headers, fields))).toMatchObject({
        code: 'validation_failed',
        errors: [{ path }],
      });
    expect(await created(save(older, owner.headers, { slug: 'named-once', parent: older }))).toMatchObject({
      slug: null,
      parent: older,
    });
  });

  it('has its place alone: of ten editors one wins, and the others learn its code', async () => {
    const older = await own('older');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => save(older, owner.headers, { content: `editor ${n}` })),
    );
    const winners = answers.filter(({ status }) => status === 201);
    expect(winners).toHaveLength(1);
    const { short_code: code } = await created(winners[0]!);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      const problem = await problemOf(answer);
      expect(problem).toMatchObject({ status: 409, code: 'superseded', short_code: code });
      expect(problem.detail).toContain(`Look at ${code}`);
    }
  });

  it('does not tell others the code of a private version', async () => {
    const anonymous = await processedPaste(bed, 'anonymous');
    const headers = { ...owner.headers, ...TOKEN };
    const { short_code: code } = await created(save(anonymous, headers, { visibility: 'private' }));
    expect(await refused(save(anonymous, headers))).toMatchObject({ code: 'superseded', short_code: code });
    for (const others of [TOKEN, { ...other.headers, ...TOKEN }]) {
      const problem = await refused(save(anonymous, others));
      expect(problem).toMatchObject({ status: 409, code: 'superseded' });
      expect(JSON.stringify(problem)).not.toContain(code);
    }
  });

  it('says to a repeated request without a key that it has created the version, and answers one with a key again', async () => {
    const older = await own('older');
    const first = await created(save(older));
    expect(await refused(save(older))).toMatchObject({
      code: 'superseded',
      short_code: first.short_code,
      detail: expect.stringContaining('an earlier request has created it'),
    });
    const [key, another] = [newKey(), await own('another')];
    const post = (fields: object = {}) =>
      postKeyed(bed.api.url, {
        key,
        type: 'application/json',
        headers: owner.headers,
        body: JSON.stringify({ content: 'newer', supersedes: another, ...fields }),
      });
    const answer = await (await post()).text();
    expect(JSON.parse(answer)).toMatchObject({ supersedes: another });
    expect((await post({ expires_in: 30 * 86_400 })).status).toBe(422); // another request: it says what was inherited
    await remove(another);
    expect(await (await post()).text()).toBe(answer);
  });

  it('leaves its place when it is deleted, when it fails, and when the cleanup has deleted what expired', async () => {
    const older = await own('older');
    const ends: readonly ((code: string) => Promise<unknown>)[] = [
      remove,
      (code) => settle(bed.db, code, null),
      async (code) => {
        await store(code);
        await expire(bed.db, code);
        expect(await refused(save(older))).toMatchObject({
          code: 'superseded',
          detail: expect.stringContaining('has expired'),
        });
        await deletedPaste(bed.db, code);
      },
    ];
    for (const end of ends) {
      const { short_code: code } = await created(save(older));
      expect(await refused(save(older))).toMatchObject({ code: 'superseded', short_code: code });
      await end(code);
    }
    await created(save(older));
  });

  it('counts beside the older paste for quotas', async () => {
    const user = await newUser(bed.db);
    const api = await bed.start({ env: { MAX_PASTES_PER_USER: '1' } });
    const older = await created(postJson(api.url, { content: 'x' }, user.headers));
    await store(older.short_code);
    const fields = { content: 'y', supersedes: older.short_code };
    expect(await refused(postJson(api.url, fields, user.headers))).toMatchObject({
      status: 429,
      code: 'quota_exceeded',
    });
  });

  it('costs a plain creation no statement, and itself one to look at the older paste', async () => {
    const older = await processedPaste(bed, 'older');
    const run = async (post: () => Promise<Response>) => {
      const before = bed.api.statements.length;
      expect((await post()).status).toBe(201);
      return bed.api.statements.slice(before);
    };
    expect(await run(() => postRaw(bed.api.url, 'plain'))).toHaveLength(1);
    expect(await run(() => save(older, TOKEN))).toHaveLength(2);
  });
});
