import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion, takeDown } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { ownForm, problemOf } from './support/http.ts';
import { failedPaste, newPaste, pasteRow, processedPaste, type Ownership } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });

let owner: TestUser;
let other: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
  other = await newUser(bed.db);
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(bed.api.url + path, { headers });
const put = (slug: string, body: unknown, { headers }: TestUser = owner) =>
  fetch(`${bed.api.url}/v1/slugs/${slug}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const move = (slug: string, from: string, to: string, as: TestUser = owner) =>
  put(slug, { short_code: to, from }, as);
const versionOf = (content: string, of: Ownership = {}) =>
  processedPaste(bed, content, { userId: owner.id, ...of });

/** A paste with a slug, and one that was made from it. */
async function twoVersions(of: Ownership = {}, ofFirst: Ownership = {}) {
  const slug = `slug-${randomBytes(6).toString('hex')}`;
  const first = await versionOf('one', { slug, ...ofFirst });
  return { slug, first, second: await versionOf('two', { parent: first, ...of }) };
}

async function historyAt(name: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await get(`/v1/pastes/${name}/history`, headers);
  const { versions } = (await response.json()) as {
    versions: { version: number; short_code: string; named_at: string }[];
  };
  return versions.map(({ version, short_code: code }) => `${version} ${code}`);
}

describe('PUT /v1/slugs/:slug', () => {
  it('moves the slug, and answers with the paste, also when it is repeated', async () => {
    const { slug, first, second } = await twoVersions();
    for (let n = 0; n < 2; n += 1) {
      const response = await move(slug, first, second);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        short_code: second,
        slug,
        version: 2,
        url: `${bed.api.url}/~${slug}`,
      });
    }
    expect(await (await get(`/~${slug}`)).text()).toBe('two');
    const before = await (await get(`/v1/pastes/${first}`)).json();
    expect(before).toMatchObject({ slug: null, version: 1, url: `${bed.api.url}/${first}` });
  });

  it('answers 200 when a deletion comes after the move, which took effect, and 410 when it is repeated', async () => {
    const { slug, first, second } = await twoVersions();
    await sql`
      CREATE FUNCTION delete_after_move() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN UPDATE pastes SET deletion_requested_at = now() WHERE id = NEW.id; RETURN NULL; END $$;
      CREATE TRIGGER delete_after_move AFTER UPDATE OF slug ON pastes FOR EACH ROW WHEN (NEW.slug IS NOT NULL)
        EXECUTE FUNCTION delete_after_move();`.execute(bed.db);
    const answer = await move(slug, first, second);
    await sql`DROP FUNCTION delete_after_move CASCADE`.execute(bed.db);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ short_code: second, slug, version: 2 });
    expect((await get(`/~${slug}`)).status).toBe(410);
    expect(await problemOf(await move(slug, first, second))).toMatchObject({ status: 410 });
  });

  it('takes two statements, of which the first moves the slug', async () => {
    const { slug, first, second } = await twoVersions();
    const before = bed.api.statements.length;
    await move(slug, first, second);
    const statements = bed.api.statements
      .slice(before)
      .filter((text) => text.includes('pastes') || text.includes('slug'));
    expect(statements).toHaveLength(2);
    expect(statements[0]).toContain('move_slug');
  });

  it('lets no cache serve the version before: neither its bytes nor its page', async () => {
    const { slug, first, second } = await twoVersions();
    for (const headers of [{}, { accept: 'text/html' }]) {
      const response = await get(`/~${slug}`, headers);
      expect(response.headers.get('cache-control')).toMatch(/^private, no-cache|no-store/);
      await response.arrayBuffer();
    }
    const etags = await Promise.all(
      [{}, { accept: 'text/html' }].map(async (headers) =>
        (await get(`/~${slug}`, headers)).headers.get('etag')!,
      ),
    );
    expect((await get(`/~${slug}`, { 'if-none-match': etags[0]! })).status).toBe(304);
    expect((await move(slug, first, second)).status).toBe(200);
    const bytes = await get(`/~${slug}`, { 'if-none-match': etags[0]! });
    expect([bytes.status, await bytes.text()]).toEqual([200, 'two']);
    const page = await get(`/~${slug}`, { accept: 'text/html', 'if-none-match': etags[1]! });
    expect([page.status, (await page.text()).includes('Version 2 of 2')]).toEqual([200, true]);
  });

  it('answers the loser of two moves with the paste that the slug names', async () => {
    const { slug, first, second } = await twoVersions();
    const rival = await versionOf('rival', { parent: first });
    const answers = await Promise.all([second, rival].map((to) => move(slug, first, to)));
    const [lost] = answers.filter(({ status }) => status === 409);
    const present = (
      await bed.db.selectFrom('pastes').select('short_code').where('slug', '=', slug).execute()
    )[0]!;
    expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 409]));
    expect(await problemOf(lost!)).toMatchObject({ code: 'slug_moved', short_code: present.short_code });
  });

  it('refuses a paste that no slug can name, and says why', async () => {
    const { slug, first } = await twoVersions();
    const own = { userId: owner.id, parent: first };
    const refused: readonly (readonly [string, RegExp])[] = [
      [await failedPaste(bed.db, own), /upload of a paste failed/],
      [await versionOf('x', { ...own, burn: true }), /deleted when it is read/],
      [await versionOf('x'), /was not made from/],
      [await versionOf('x', { ...own, slug: `${slug}-other` }), /has or had a slug/],
      [await processedPaste(bed, 'x', { userId: other.id, parent: first }), /You have no paste/],
      [await processedPaste(bed, 'x', { parent: first }), /You have no paste/],
      ['nobody0has', /You have no paste/],
    ];
    for (const [to, words] of refused)
      expect(await problemOf(await move(slug, first, to))).toMatchObject({
        status: 409,
        code: 'slug_move_refused',
        detail: expect.stringMatching(words),
      });
    expect((await pasteRow(bed.db, first))!.slug).toBe(slug);
  });

  it('tells to repeat the move while the upload of the new paste is in progress', async () => {
    const { slug, first } = await twoVersions();
    const response = await move(
      slug,
      first,
      await newPaste(bed.db, 'x', { userId: owner.id, parent: first }),
    );
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await problemOf(response)).toMatchObject({ status: 503, code: 'paste_in_progress' });
  });

  it('answers as reads do when the present paste has ended, or is private to somebody else', async () => {
    const deleted = await twoVersions();
    await requestDeletion(bed.db, (await pasteRow(bed.db, deleted.first))!.id);
    expect((await move(deleted.slug, deleted.first, deleted.second)).status).toBe(410);
    const down = await twoVersions();
    await takeDown(bed.db, [down.first], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    expect((await move(down.slug, down.first, down.second)).status).toBe(451);
    const hidden = await twoVersions({}, { visibility: 'private' });
    const unknown = await move('nobody-has-this', hidden.first, hidden.second, other);
    const theirs = await move(hidden.slug, hidden.first, hidden.second, other);
    expect([unknown.status, theirs.status]).toEqual([404, 404]);
    const [a, b] = [await problemOf(unknown), await problemOf(theirs)];
    expect({ ...a, instance: '' }).toEqual({ ...b, instance: '' });
  });

  it.each([
    ['no from', { short_code: 'q7Zk2Lm9Xa' }, 422],
    ['another field', { short_code: 'q7Zk2Lm9Xa', from: 'q7Zk2Lm9Xb', x: 1 }, 422],
    ['no short code', { short_code: '~name', from: 'q7Zk2Lm9Xb' }, 422],
    ['too much', { short_code: 'x'.repeat(2000), from: 'x' }, 413],
  ])('refuses a body with %s', async (_name, body, status) => {
    expect((await put('some-slug', body)).status).toBe(status);
  });
});

describe('the history of a slug', () => {
  it('lists the versions newest first, by the slug and by the code of each', async () => {
    const { slug, first, second } = await twoVersions();
    expect(await historyAt(`~${slug}`)).toEqual([`1 ${first}`]);
    await move(slug, first, second);
    for (const name of [`~${slug}`, first, second])
      expect(await historyAt(name)).toEqual([`2 ${second}`, `1 ${first}`]);
  });

  it('never shows strangers what they cannot read', async () => {
    const { slug, first, second } = await twoVersions({ visibility: 'private' });
    const third = await versionOf('three', { parent: second });
    await move(slug, first, second);
    for (const path of [`/v1/pastes/~${slug}/history`, `/~${slug}/history`, `/v1/pastes/${second}/history`])
      for (const headers of [{}, other.headers, { accept: 'text/html' }])
        expect((await get(path, headers)).status).toBe(404);
    expect(await historyAt(first)).toEqual([`1 ${first}`]);
    await move(slug, second, third);
    await requestDeletion(bed.db, (await pasteRow(bed.db, first))!.id);
    expect(await historyAt(`~${slug}`)).toEqual([`3 ${third}`]);
    expect(await historyAt(`~${slug}`, owner.headers)).toEqual([`3 ${third}`, `2 ${second}`]);
    const page = await (await get(`/~${slug}/history`, { accept: 'text/html' })).text();
    for (const code of [first, second]) expect(page).not.toContain(`/${code}"`);
  });

  it('is gone with the paste that the slug names, and stays at the codes of the others', async () => {
    const { slug, first, second } = await twoVersions();
    await move(slug, first, second);
    await bed.db
      .updateTable('pastes')
      .set({ held_at: new Date() })
      .where('short_code', '=', second)
      .execute();
    expect((await get(`/v1/pastes/~${slug}/history`)).status).toBe(451);
    expect(await historyAt(first)).toEqual([`1 ${first}`]);
    expect(await historyAt(first, owner.headers)).toEqual([`2 ${second}`, `1 ${first}`]);
    await takeDown(bed.db, [second], { actor: 'ops/test', class: 'spam', reason: 'reported' });
    expect((await get(`/v1/pastes/~${slug}/history`)).status).toBe(451);
    expect(await historyAt(first)).toEqual([`1 ${first}`]);
  });
});

describe('the pages', () => {
  const pageAt = async (path: string, headers: Readonly<Record<string, string>> = owner.headers) =>
    await (await get(path, { accept: 'text/html', ...headers })).text();
  const moveByForm = async (slug: string, from: string, to: string): Promise<Response> => {
    const form = ownForm(bed.api.url, { short_code: to, from });
    const headers = new Headers(form.headers);
    headers.set('Authorization', `Bearer ${owner.token}`);
    headers.set('Accept', 'text/html');
    return await fetch(`${bed.api.url}/my/slugs/${slug}`, { ...form, headers, redirect: 'manual' });
  };

  it('name the version of a paste, and link the history and the changes', async () => {
    const { slug, first, second } = await twoVersions();
    expect(await pageAt(`/~${slug}`)).not.toContain('Version');
    await move(slug, first, second);
    expect(await pageAt(`/${first}`)).toContain(`href="/${first}/history">Version 1 of 2</a>`);
    const page = await pageAt(`/~${slug}/history`);
    for (const part of [`href="/${first}"`, `href="/${second}"`, `href="/${second}/diff"`])
      expect(page).toContain(part);
    expect(page).not.toContain(`href="/${first}/diff"`);
    expect(page).toContain(`name="from" value="${first}" aria-label="Compare from version 1" checked>`);
    expect(page).toContain(`formaction="/${second}/diff" aria-label="Compare with version 2"`);
  });

  it('offer only the owner to move the slug, with a form that does it', async () => {
    const { slug, first, second } = await twoVersions();
    const button = `Move ~${slug} to this version`;
    expect(await pageAt(`/${second}`)).toContain(button);
    expect(await pageAt(`/${second}`, {})).not.toContain(button);
    const named = await versionOf('named', { parent: first, slug: `${slug}-own` });
    expect(await pageAt(`/${named}`)).not.toContain(button);
    expect(await pageAt(`/${second}`, other.headers)).not.toContain(button);
    const held = await versionOf('held', { parent: first });
    await bed.db.updateTable('pastes').set({ held_at: new Date() }).where('short_code', '=', held).execute();
    expect(await pageAt(`/${held}`)).not.toContain(button);
    const response = await moveByForm(slug, first, second);
    expect([response.status, response.headers.get('location')]).toEqual([303, `/~${slug}`]);
    expect(await pageAt(`/${second}`)).not.toContain(button);
    expect((await pasteRow(bed.db, second))!.slug).toBe(slug);
  });

  it('leads back to the new paste when the slug was moved meanwhile', async () => {
    const { slug, first, second } = await twoVersions();
    const third = await versionOf('three', { parent: second });
    await move(slug, first, second);
    const response = await moveByForm(slug, first, third);
    expect(response.status).toBe(409);
    expect(await response.text()).toContain(`href="/${third}"`);
    expect(await pageAt(`/${third}`)).toContain(`name="from" value="${second}"`);
  });
});
