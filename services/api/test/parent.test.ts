import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { ownPage, postJson, postRaw, problemOf } from './support/http.ts';
import { newKey, postKeyed } from './support/keyed.ts';
import { expectLimited, limited } from './support/limits.ts';
import { countPastes, expire, failedPaste, newPaste, pasteRow, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
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

const HTML = { accept: 'text/html' };
const get = (code: string, headers: Record<string, string> = {}, end = '/new') =>
  fetch(`${bed.api.url}/${code}${end}`, { headers });
const idOf = async (code: string): Promise<string> => (await pasteRow(bed.db, code))!.id;

describe('the form for a paste that is made from another', () => {
  const form = async (code: string, headers: Record<string, string> = {}) =>
    await get(code, { ...HTML, ...headers }, '/new');

  it('has the text, escaped, and a checkbox that names the parent', async () => {
    const code = await processedPaste(bed, '\n</textarea><script>alert(1)</script>\n');
    const answer = await form(code);
    const markup = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(markup).toContain('>\n\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n</textarea>');
    expect(markup).toContain(`name="parent" type="checkbox" value="${code}" checked`);
    expect(await (await get(code, HTML, '')).text()).toContain(`href="/${code}/new"`);
  });

  it('leaves a long text to the script, and bytes that are no text away', async () => {
    const long = await processedPaste(bed, 'x'.repeat(256 * 1024 + 1));
    expect(await (await form(long)).text()).toContain(`data-from="/v1/pastes/${long}/content"`);
    const bytes = await processedPaste(bed, Buffer.from([255, 253]));
    const markup = await (await form(bytes)).text();
    expect(markup).toContain('is not text');
    expect(markup).not.toContain('data-from');
  });

  it('keeps what was entered when the parent expires meanwhile, and then creates the paste without a parent', async () => {
    const code = await processedPaste(bed, 'old');
    await requestDeletion(bed.db, await idOf(code));
    const submit = (fields: Readonly<Record<string, string>>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return fetch(`${bed.api.url}/`, {
        method: 'POST',
        headers: { ...HTML, ...ownPage(bed.api.url) },
        body,
      });
    };
    const refused = await submit({ text: 'a long <new> text', title: 'Kept', syntax: 'rust', parent: code });
    const markup = await refused.text();
    expect(refused.status).toBe(422);
    expect(markup).toContain('You can no longer read the paste that you started from');
    expect(markup).toContain('a long &lt;new&gt; text</textarea>');
    expect(markup).toContain('value="Kept"');
    expect(markup).toContain('value="rust" selected');
    expect(markup).not.toContain('name="parent"');
    expect((await submit({ text: 'a long <new> text', title: 'Kept' })).status).toBe(201);
  });

  it('is refused as the paste itself', async () => {
    const secret = await processedPaste(bed, 'private', { userId: owner.id, visibility: 'private' });
    expect((await form(secret, owner.headers)).status).toBe(200);
    for (const headers of [{}, other.headers]) expect((await form(secret, headers)).status).toBe(404);
    expect((await form('doesNotExist')).status).toBe(404);
    const burn = await processedPaste(bed, 'the secret', { burn: true });
    const refused = await form(burn);
    expect([refused.status, await refused.text()]).toEqual([403, expect.not.stringContaining('the secret<')]);
    const gone = await processedPaste(bed, 'x');
    await requestDeletion(bed.db, await idOf(gone));
    expect((await form(gone)).status).toBe(410);
  });
});
