import { beforeAll, describe, expect, it } from '@jest/globals';
import { requestDeletion } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { ownPage, postJson } from './support/http.ts';
import { pasteRow, processedPaste, upload, type Ownership } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
const NOBODY = 'none=1';
let owner: TestUser;
let cookie: string;
beforeAll(async () => {
  owner = await newUser(bed.db);
  cookie = await signedInWith(bed.db, owner.token);
});

const own = (content: string, of: Ownership = {}) =>
  processedPaste(bed, content, { userId: owner.id, ...of });
const show = (path: string, as = cookie) => browseAs(bed.api, as, path);
const pageOf = async (path: string, as = cookie) => await (await show(path, as)).text();
/** The form as a browser sends it without JavaScript. */
async function submit(fields: Readonly<Record<string, string>>, as = cookie): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ title: '', syntax: '', expires_in: '', ...fields }))
    body.set(name, value);
  return await browseAs(bed.api, as, '/', { method: 'POST', headers: ownPage(bed.api.url), body });
}
/** A newer version, stored. */
async function version(supersedes: string, content: string, fields: object = {}): Promise<string> {
  const answer = await postJson(bed.api.url, { content, supersedes, ...fields }, owner.headers);
  expect(answer.status).toBe(201);
  const { short_code: code } = (await answer.json()) as { short_code: string };
  await upload(bed.db, bed.store, code, content);
  return code;
}
const rowBehind = (code: string) =>
  bed.db.selectFrom('pastes').selectAll().where('supersedes', '=', code).executeTakeFirstOrThrow();
const named = (markup: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(markup)?.[1];

describe('the form that edits a paste', () => {
  it('begins with the text and the options, and saves the next version', async () => {
    const code = await own('one\n<two>\n', { visibility: 'private' });
    await sql`UPDATE pastes SET title = 'notes.md', syntax = 'rust', expires_at = now() + interval '50 minutes' WHERE short_code = ${code}`.execute(
      bed.db,
    );
    const page = await pageOf(`/${code}`);
    expect(page).toContain(`href="/${code}/edit" aria-keyshortcuts="e">Edit</a>`);
    const form = await pageOf(`/${code}/edit`);
    expect(form).toContain('\none\n&lt;two&gt;\n</textarea>');
    for (const part of [
      'value="notes.md"',
      '<option value="rust" selected>',
      '<option value="private" selected>',
      '<option value="">As the version before</option>',
      'Save new version',
      'see a link to the new one',
    ])
      expect(form).toContain(part);
    expect(form).not.toMatch(/id="(?:more|encrypt|delete_token|parent)"/);
    expect(named(form, 'supersedes')).toBe(code);
    const saved = await submit({
      text: 'two\r\n',
      supersedes: code,
      title: 'notes.md',
      visibility: 'private',
      form_user: owner.id,
    });
    expect([saved.status, await saved.text()]).toEqual([
      201,
      expect.stringContaining('<h1>New version saved</h1>'),
    ]);
    const row = await rowBehind(code);
    expect(row).toMatchObject({
      title: 'notes.md',
      syntax: null,
      visibility: 'private',
      parent: code,
      user_id: owner.id,
    });
    const left = row.expires_at!.getTime() - Date.now();
    expect(left).toBeGreaterThan(20 * 60_000);
    expect(left).toBeLessThan(51 * 60_000); // the time that was left, and not 30 days
  });

  it('is for the owner, and for whoever has the delete token of an anonymous paste', async () => {
    const code = await own('mine');
    const signIn = await show(`/${code}/edit`, NOBODY);
    expect([signIn.status, await signIn.text()]).toEqual([
      401,
      expect.stringContaining('Sign in as the owner'),
    ]);
    expect(await pageOf(`/${code}`, NOBODY)).not.toContain(`/${code}/edit`);
    const anonymous = await processedPaste(bed, 'anonymous');
    expect(await pageOf(`/${anonymous}`, NOBODY)).toContain('Edit with the delete token');
    const form = await pageOf(`/${anonymous}/edit`, NOBODY);
    expect(form).toContain(`data-path="/${anonymous}/delete"`);
    const wrong = await submit(
      { text: 'my long\ntext', supersedes: anonymous, delete_token: 'guess-4711', title: 'kept' },
      NOBODY,
    );
    const refused = await wrong.text();
    expect(wrong.status).toBe(401);
    for (const part of ['\nmy long\ntext</textarea>', 'value="kept"', 'id="delete_token"', 'role="alert"'])
      expect(refused).toContain(part);
    expect(refused).not.toContain('guess-4711');
    expect(named(refused, 'supersedes')).toBe(anonymous);
    const saved = await submit({ text: 'newer', supersedes: anonymous, delete_token: 'the token' }, NOBODY);
    expect([saved.status, await saved.text()]).toEqual([201, expect.stringContaining('id="delete-token"')]);
  });

  it('is not for a paste that can have no newer version', async () => {
    const encrypted = await own('{}');
    await sql`UPDATE pastes SET encrypted = true WHERE short_code = ${encrypted}`.execute(bed.db);
    const once = await own('once', { burn: true });
    const statuses = [];
    for (const code of [encrypted, once, 'doesNotExist']) {
      statuses.push((await show(`/${code}/edit`)).status);
      expect(await pageOf(`/${code}`)).not.toContain(`/${code}/edit`);
    }
    expect(statuses).toEqual([422, 403, 404]);
    expect((await pasteRow(bed.db, once))!.burned_at).toBeNull();
  });

  it('keeps the text when somebody has saved a version meanwhile, and goes on from that one', async () => {
    const code = await own('one');
    const newer = await version(code, 'theirs');
    const answer = await submit({ text: 'mine\r\nof\r\nhours', supersedes: code, form_user: owner.id });
    const page = await answer.text();
    expect([answer.status, named(page, 'supersedes')]).toEqual([409, newer]);
    for (const part of [
      '\nmine\nof\nhours</textarea>',
      `${newer} is a newer version`,
      `href="/${newer}/diff?from=${code}" target="_blank"`,
    ])
      expect(page).toContain(part);
    const saved = await submit({ text: 'merged', supersedes: newer, form_user: owner.id });
    expect(saved.status).toBe(201);
    expect((await rowBehind(newer)).parent).toBe(newer);
  });

  it('tells a script which version is newer, also of an anonymous paste', async () => {
    const code = await processedPaste(bed, 'one');
    const post = () =>
      browseAs(bed.api, NOBODY, `/?supersedes=${code}`, {
        method: 'POST',
        headers: {
          ...ownPage(bed.api.url),
          'content-type': 'application/octet-stream',
          'delete-token': 'the token',
          'form-user': '',
        },
        body: 'newer',
      });
    expect((await post()).status).toBe(201);
    const refused = await post();
    const page = await refused.text();
    const newer = (await rowBehind(code)).short_code;
    expect([refused.status, named(page, 'supersedes')]).toEqual([409, newer]);
    expect(page).toContain(`data-path="/${newer}/delete"`);
    expect(page).toContain(`href="/${newer}/diff?from=${code}"`);
  });

  it.each([
    ['paste_held', 451, (code: string) => sql`UPDATE pastes SET held_at = now() WHERE short_code = ${code}`],
    [
      'parent_not_found',
      422,
      (code: string) => sql`UPDATE pastes SET deletion_requested_at = now() WHERE short_code = ${code}`,
    ],
  ])('keeps the text when the paste can no longer be superseded: %s', async (_code, status, end) => {
    const code = await own('one');
    await end(code).execute(bed.db);
    const answer = await submit({ text: 'mine', supersedes: code, form_user: owner.id });
    const page = await answer.text();
    expect([answer.status, page]).toEqual([status, expect.stringContaining('\nmine</textarea>')]);
    expect(named(page, 'supersedes')).toBe(status === 451 ? code : undefined); // a new paste instead
  });

  it('links no other site where the form names no short code', async () => {
    const answer = await submit({ text: 'mine', supersedes: '/evil.example', form_user: owner.id });
    expect([answer.status, await answer.text()]).toEqual([422, expect.not.stringContaining('evil.example')]);
  });

  it('keeps the text near a quota', async () => {
    const user = await newUser(bed.db);
    const api = await bed.start({ env: { MAX_PASTES_PER_USER: '1' } });
    const made = await postJson(api.url, { content: 'x' }, user.headers);
    const { short_code: code } = (await made.json()) as { short_code: string };
    await upload(bed.db, bed.store, code, 'x');
    const body = new FormData();
    for (const [name, value] of Object.entries({ text: 'mine', supersedes: code, form_user: user.id }))
      body.set(name, value);
    const as = await signedInWith(bed.db, user.token);
    const answer = await browseAs(api, as, '/', { method: 'POST', headers: ownPage(api.url), body });
    expect([answer.status, await answer.text()]).toEqual([429, expect.stringContaining('\nmine</textarea>')]);
  });

  it('is refused from the page of another site, and for another user', async () => {
    const code = await own('one');
    const body = new FormData();
    for (const [name, value] of Object.entries({ text: 'forged', supersedes: code })) body.set(name, value);
    const forged = await browseAs(bed.api, cookie, '/', {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      body,
    });
    expect(forged.status).toBe(403);
    const changed = await submit({ text: 'mine', supersedes: code, form_user: '' });
    expect([changed.status, named(await changed.text(), 'supersedes')]).toEqual([409, code]);
    expect(await bed.db.selectFrom('pastes').select('id').where('supersedes', '=', code).execute()).toEqual(
      [],
    );
  });
});

describe('the versions of a paste without a slug', () => {
  it('are listed and named, and the newest is shown to those who can read it', async () => {
    const first = await own('one');
    const plain = await pageOf(`/${first}`);
    expect(plain).not.toContain('newer version');
    const second = await version(first, 'two');
    const third = await version(second, 'three', { visibility: 'private' });
    for (const code of [first, second, third]) {
      const page = await pageOf(`/${code}/history`);
      for (const each of [first, second, third]) expect(page).toContain(`href="/${each}"><strong>`);
    }
    const history = async (headers: Record<string, string>) => {
      const answer = await fetch(`${bed.api.url}/v1/pastes/${first}/history`, { headers });
      const { versions } = (await answer.json()) as { versions: { version: number; short_code: string }[] };
      return versions.map(({ version: number, short_code: code }) => `${number} ${code}`);
    };
    expect(await history(owner.headers)).toEqual([`3 ${third}`, `2 ${second}`, `1 ${first}`]);
    expect(await history({})).toEqual([`2 ${second}`, `1 ${first}`]);
    const oldPage = await pageOf(`/${first}`);
    expect(oldPage).toContain('Version 1 of 3');
    expect(oldPage).toContain(`There is a newer version of this paste. <a class="button" href="/${third}">`);
    const stranger = await pageOf(`/${first}`, NOBODY);
    expect(stranger).toContain(`href="/${second}">Open it</a>`);
    expect(stranger).not.toContain(third);
    expect(await pageOf(`/${third}`)).not.toContain('There is a newer version');
    await requestDeletion(bed.db, (await pasteRow(bed.db, second))!.id);
    expect(await history({})).toEqual([`1 ${first}`]);
    expect(await history(owner.headers)).toEqual([`3 ${third}`, `1 ${first}`]);
  });

  it('are restored by the form of the older one, which supersedes the newest', async () => {
    const first = await own('the first text');
    const second = await version(first, 'two');
    expect(await pageOf(`/${second}/history`)).toContain(
      `href="/${first}/edit" aria-label="Restore version 1">Restore</a>`,
    );
    expect(await pageOf(`/${second}/history`, NOBODY)).not.toContain('/edit');
    const form = await pageOf(`/${first}/edit`);
    expect(form).toContain('\nthe first text</textarea>');
    expect(form).toContain(`${second} is a newer version`);
    expect(named(form, 'supersedes')).toBe(second);
  });

  it('cost the page of any other paste no statement', async () => {
    const count = async (code: string) => {
      const before = bed.api.statements.length;
      await pageOf(`/${code}`, NOBODY);
      return bed.api.statements.length - before;
    };
    const first = await processedPaste(bed, 'plain');
    expect(await count(first)).toBe(1);
  });
});
