import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { postJson, postRaw, problemOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { expectLimited, limited } from './support/limits.ts';
import { countPastes, expire, failedPaste, newPaste, pasteRow, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});
beforeEach(async () => {
  await sql`TRUNCATE rate_limits`.execute(bed.db);
});

const childOf = (parent: string, headers: Record<string, string> = {}) =>
  postJson(bed.api.url, { content: 'child', parent }, headers);

async function parentOf(response: Response): Promise<unknown> {
  expect(response.status).toBe(201);
  const { short_code: code, parent } = (await response.json()) as { short_code: string; parent: unknown };
  const metadata = await fetch(`${bed.api.url}/v1/pastes/${code}`, { headers: owner.headers });
  expect(await metadata.json()).toMatchObject({ parent });
  expect((await pasteRow(bed.db, code))!.parent).toBe(parent);
  return parent;
}

describe('a paste that is made from another', () => {
  it.each([
    ['JSON', (parent: string) => childOf(parent)],
    ['a raw body', (parent: string) => postRaw(bed.api.url, 'child', `?parent=${parent}`)],
    [
      'a form',
      (parent: string) => {
        const body = new FormData();
        body.set('content', 'child');
        body.set('parent', parent);
        return fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body });
      },
    ],
  ])('is created by %s, and its metadata names the parent', async (_name, post) => {
    const parent = await newPaste(bed.db);
    expect(await parentOf(await post(parent))).toBe(parent);
  });

  it('has no parent when the field is missing, empty or null', async () => {
    for (const body of [{}, { parent: '' }, { parent: null }])
      expect(await parentOf(await postJson(bed.api.url, { content: 'x', ...body }))).toBeNull();
    expect(await parentOf(await postRaw(bed.api.url, 'x', '?parent='))).toBeNull();
  });

  it.each(['a b', '../x', '~name', 'x'.repeat(33), '<b>', 'a\0b', 7, ['x'], {}])(
    'is refused for the malformed short code %j',
    async (parent) => {
      const problem = await problemOf(await postJson(bed.api.url, { content: 'x', parent }));
      expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
      expect(problem.errors).toEqual([{ path: 'parent', message: expect.stringMatching(/^must be/) }]);
    },
  );

  it('is refused for a parent that the creator cannot read, in the same words for a private, a missing and a gone one', async () => {
    const secret = await processedPaste(bed, 'secret', { userId: owner.id, visibility: 'private' });
    const expired = await processedPaste(bed, 'expired');
    await expire(bed.db, expired);
    const deleted = await processedPaste(bed, 'deleted');
    await requestDeletion(bed.db, (await pasteRow(bed.db, deleted))!.id);
    const codes = [
      'doesNotExist',
      secret,
      expired,
      deleted,
      await failedPaste(bed.db),
      await processedPaste(bed, 'read once', { burn: true }),
    ];
    const before = await countPastes(bed.db);
    const problems = [];
    for (const code of codes)
      for (const headers of [{}, other.headers]) problems.push(await problemOf(await childOf(code, headers)));
    expect(problems[0]).toMatchObject({ status: 422, code: 'parent_not_found' });
    expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(1);
    expect(await countPastes(bed.db)).toBe(before);
    expect(await parentOf(await childOf(secret, owner.headers))).toBe(secret);
  });

  it('costs one statement, with or without a parent', async () => {
    const parent = await newPaste(bed.db);
    for (const query of ['', `?parent=${parent}`]) {
      const before = bed.api.statements.length;
      expect((await postRaw(bed.api.url, 'counted', query)).status).toBe(201);
      const run = bed.api.statements.slice(before);
      expect(run).toEqual([expect.stringMatching(/INSERT INTO pastes/)]);
    }
  });

  it('is refused without an effect on the creations beside it', async () => {
    const parent = await newPaste(bed.db);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        postRaw(bed.api.url, `paste ${n}`, ['', `?parent=${parent}`, '?parent=doesNotExist'][n % 3]),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 30 }, (_, n) => (n % 3 === 2 ? 422 : 201)),
    );
  });

  it('is answered alike when a request with an Idempotency-Key is repeated, also after its parent is gone', async () => {
    const parent = await processedPaste(bed, 'parent');
    const key = newKey();
    const post = (sentKey: string, body: object) =>
      postKeyed(bed.api.url, { key: sentKey, type: 'application/json', body: JSON.stringify(body) });
    const child = { content: 'child', parent };
    const first = await (await post(key, child)).text();
    expect(JSON.parse(first)).toMatchObject({ parent });
    await requestDeletion(bed.db, (await pasteRow(bed.db, parent))!.id);
    expect(await (await post(key, child)).text()).toBe(first);
    const another = newKey();
    const refused = await post(another, child);
    expect(await problemOf(refused)).toMatchObject({ code: 'parent_not_found' });
    const corrected = await post(another, { content: 'child' });
    expect(corrected.status).toBe(201); // a refused request has not used up its key
  });

  it('counts a parent that cannot be read as a guess at a short code, and refuses a guesser before the look-up', async () => {
    const api = await bed.start({ env: limited({ misses: 2 }) });
    const parent = await newPaste(bed.db);
    for (const guess of ['guess1', 'guess2'])
      expect((await postRaw(api.url, 'x', `?parent=${guess}`)).status).toBe(422);
    const before = api.statements.length;
    await expectLimited(await postRaw(api.url, 'x', `?parent=${parent}`), 'misses');
    expect(api.statements.slice(before).filter((text) => text.includes('INSERT INTO pastes'))).toEqual([]);
    expect((await postRaw(api.url, 'creating is no guessing')).status).toBe(201);
    expect((await fetch(`${api.url}/${parent}`)).status).toBe(429);
  });
});
