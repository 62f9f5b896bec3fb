import { describe, expect, it } from '@jest/globals';
import {
  eraseUser,
  findPaste,
  keepShownName,
  removeTombstones,
  requestDeletion,
  resetStuckDeletions,
  takeDown,
} from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { ownPage, problemOf } from './support/http.ts';
import {
  claimForDeletion,
  deletedPaste,
  expire,
  failedPaste,
  processedPaste,
  pasteRow,
} from './support/pastes.ts';
import { browseAs, BROWSER } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi();
const ISSUER = 'https://login.example.org/realms/a';

/** A user of an identity provider. */
async function newPerson(name: string): Promise<TestUser> {
  const user = await newUser(bed.db, { name: `${ISSUER}#${crypto.randomUUID()}` });
  await keepShownName(bed.db, user.id, name);
  return user;
}

const secretOf = async ({ id }: Pick<TestUser, 'id'>) =>
  await processedPaste(bed, 'the secret', { burn: true, userId: id });

const reveal = async (code: string, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(`${bed.api.url}/${code}`, { method: 'POST', headers });
  expect([answer.status, await answer.text()]).toEqual([200, 'the secret']);
};

const ask = async (code: string, headers: Readonly<Record<string, string>>) =>
  await fetch(`${bed.api.url}/v1/pastes/${code}/receipt`, { headers });

const receiptOf = async (code: string, { headers }: Pick<TestUser, 'headers'>): Promise<unknown> =>
  await (await ask(code, headers)).json();

/** As the sweeps do with a paste that was read, hours later. */
async function cleanUp(code: string): Promise<void> {
  await resetStuckDeletions(bed.db, { actor: 'janitor/test', stuckAfterSeconds: 0, limit: 100 });
  await deletedPaste(bed.db, code);
}

const unread = { read_at: null, reader: null };
const anInstant = expect.stringMatching(/^\d{4}-.*Z$/);

describe('the receipt of a paste that is deleted when it is read', () => {
  it('says who has fetched it: somebody with the link, or a user by name', async () => {
    const owner = await newUser(bed.db);
    const known = await newUser(bed.db, { name: 'a script' });
    const person = await newPerson('Anna Adler');
    for (const [headers, reader] of [
      [{}, null],
      [known.headers, { name: 'a script', issuer: null }],
      [person.headers, { name: 'Anna Adler', issuer: ISSUER }],
      [
        { ...ownPage(bed.api.url), cookie: await signedInWith(bed.db, person.token) },
        { name: 'Anna Adler', issuer: ISSUER },
      ],
    ] as const) {
      const code = await secretOf(owner);
      expect(await receiptOf(code, owner)).toEqual(unread);
      await reveal(code, headers);
      expect(await receiptOf(code, owner)).toEqual({ read_at: anInstant, reader });
    }
  });

  it('is given in no name that the reader was not told of: nothing is revealed to who has signed in since', async () => {
    const owner = await newUser(bed.db);
    const person = await newPerson('Anna Adler');
    const cookie = await signedInWith(bed.db, person.token);
    const code = await secretOf(owner);
    const key = crypto.randomUUID();
    const opened = await (await browseAs(bed.api, 'none=1', `/${code}`)).text();
    const [, user] = /name="key"[^>]*><input type="hidden" name="form_user" value="([^"]*)"/.exec(opened)!;
    const body = new URLSearchParams({ key, form_user: user! });
    const origin = bed.api.url;
    const click = () => browseAs(bed.api, cookie, `/${code}`, { method: 'POST', headers: { origin }, body });
    expect((await click()).status).toBe(409);
    const headers = { ...ownPage(bed.api.url), cookie, 'form-user': '', 'idempotency-key': key };
    const byScript = await fetch(`${bed.api.url}/v1/pastes/${code}/reveal`, { method: 'POST', headers });
    expect(await problemOf(byScript)).toMatchObject({ status: 409, code: 'user_changed' });
    expect(await receiptOf(code, owner)).toEqual(unread);
    body.set('form_user', person.id);
    expect((await click()).status).toBe(200);
    expect(await receiptOf(code, owner)).toMatchObject({ reader: { name: 'Anna Adler' } });
  });

  it('names the first reader, whoever repeats the reveal with the same key', async () => {
    const [owner, first, second] = [
      await newUser(bed.db),
      await newPerson('First'),
      await newPerson('Second'),
    ];
    const code = await secretOf(owner);
    const key = { 'idempotency-key': crypto.randomUUID() };
    await reveal(code, { ...first.headers, ...key });
    const before = await receiptOf(code, owner);
    await reveal(code, { ...second.headers, ...key });
    expect(before).toMatchObject({ reader: { name: 'First' } });
    expect(await receiptOf(code, owner)).toEqual(before);
  });

  it('is for the owner, or who has the delete token; for everybody else the paste is not found', async () => {
    const [owner, other] = [await newUser(bed.db), await newUser(bed.db)];
    const [own, anonymous] = [await secretOf(owner), await processedPaste(bed, 'the secret', { burn: true })];
    const token = { 'delete-token': 'the token' };
    for (let round = 0; round < 2; round += 1) {
      for (const [code, headers] of [
        [own, {}],
        [own, other.headers],
        [own, token],
        [anonymous, {}],
        [anonymous, owner.headers],
        [anonymous, { 'delete-token': 'another' }],
      ] as const)
        expect(await problemOf(await ask(code, headers))).toMatchObject({
          status: 404,
          code: 'paste_not_found',
        });
      expect((await ask(own, owner.headers)).status).toBe(200);
      expect((await ask(anonymous, token)).status).toBe(200);
      if (round === 0) for (const code of [own, anonymous]) await reveal(code);
    }
    expect(await receiptOf(anonymous, { headers: token })).toEqual({ read_at: anInstant, reader: null });
  });

  it('is nothing for a paste that stays, and ends unread as the paste does', async () => {
    const owner = await newUser(bed.db);
    const codeOf = async (code: string) => (await problemOf(await ask(code, owner.headers))).code;
    expect(await codeOf(await processedPaste(bed, 'stays', { userId: owner.id }))).toBe('nothing_to_reveal');
    expect(await receiptOf(await failedPaste(bed.db, { burn: true, userId: owner.id }), owner)).toEqual(
      unread,
    );

    const expired = await secretOf(owner);
    await expire(bed.db, expired);
    expect(await codeOf(expired)).toBe('paste_gone');
    const deleted = await secretOf(owner);
    await requestDeletion(bed.db, (await findPaste(bed.db, deleted))!.id);
    expect(await codeOf(deleted)).toBe('paste_gone');
    const takenDown = await secretOf(owner);
    await takeDown(bed.db, [takenDown], { class: 'spam', reason: 'a test', actor: 'ops/test' });
    expect(await codeOf(takenDown)).toBe('paste_taken_down');
  });

  it('stays until the row of the paste is removed, also when the content is gone', async () => {
    const owner = await newUser(bed.db);
    const code = await secretOf(owner);
    await reveal(code);
    await cleanUp(code);
    expect(await receiptOf(code, owner)).toEqual({ read_at: anInstant, reader: null });
    await removeTombstones(bed.db, { retentionSeconds: 0, limit: 100 });
    expect((await ask(code, owner.headers)).status).toBe(404);
  });

  it('forgets the name with the erasure of the reader, and everything with that of the owner', async () => {
    const [owner, reader] = [await newUser(bed.db), await newPerson('Anna Adler')];
    const code = await secretOf(owner);
    await reveal(code, reader.headers);
    await eraseUser(bed.db, reader.id);
    expect(await receiptOf(code, owner)).toEqual({ read_at: anInstant, reader: null });
    await eraseUser(bed.db, owner.id);
    expect((await ask(code, owner.headers)).status).toBe(401);
    expect((await ask(code, {})).status).toBe(404);
  });

  it('is not moved by what looks at a link without reading it', async () => {
    const owner = await newUser(bed.db);
    const code = await secretOf(owner);
    for (const agent of [
      'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
      'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
      'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
      'WhatsApp/2.23.20.0',
      'facebookexternalhit/1.1',
    ])
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        for (const accept of ['*/*', BROWSER.accept])
          for (const path of [code, `${code}/timeline`, `v1/pastes/${code}`, `v1/pastes/${code}/content`])
            await fetch(`${bed.api.url}/${path}`, { method, headers: { 'user-agent': agent, accept } });
    expect(await receiptOf(code, owner)).toEqual(unread);
    await reveal(code);
  });
});

describe('the pages', () => {
  it('tell a reader beforehand what the owner will see, and the owner that nobody has fetched it', async () => {
    const [owner, person] = [await newUser(bed.db), await newPerson('Anna <Adler>')];
    const code = await secretOf(owner);
    const page = async (cookie: string) => await (await browseAs(bed.api, cookie, `/${code}`)).text();
    expect(await page('none=1')).toContain('Whoever made this paste will see that it was fetched.');
    expect(await page(await signedInWith(bed.db, person.token))).toContain(
      'will see that you, \u2068Anna &lt;Adler&gt;\u2069, as \u2068login.example.org\u2069 says, fetched it.',
    );
    expect(await page(await signedInWith(bed.db, owner.token))).toContain('Nobody has fetched it yet.');
    expect(await receiptOf(code, owner)).toEqual(unread);
  });

  it('show the owner at the address of a read paste when it was fetched, and by whom, and nobody else', async () => {
    const [owner, person] = [await newUser(bed.db), await newPerson('Anna Adler')];
    const code = await secretOf(owner);
    await reveal(code, person.headers);
    const at = async (cookie: string) => {
      const answer = await browseAs(bed.api, cookie, `/${code}`);
      return { status: answer.status, text: await answer.text() };
    };
    const own = await at(await signedInWith(bed.db, owner.token));
    expect(own).toMatchObject({ status: 410 });
    expect(own.text).toContain('by \u2068Anna Adler\u2069, as \u2068login.example.org\u2069 says');
    for (const cookie of ['none=1', await signedInWith(bed.db, person.token)]) {
      const { status, text } = await at(cookie);
      expect([status, text.includes('Anna Adler\u2069, as')]).toEqual([410, false]);
    }
  });

  it('list the read pastes of their owner, which nobody can select, and the list of the api does', async () => {
    const [owner, person] = [await newUser(bed.db), await newPerson('Anna Adler')];
    const [open, read] = [await secretOf(owner), await secretOf(owner)];
    await reveal(read, person.headers);
    const cookie = await signedInWith(bed.db, owner.token);
    const markup = await (await browseAs(bed.api, cookie, '/my/pastes')).text();
    expect(markup).toContain(`value="${open}"`);
    expect(markup).not.toContain(`value="${read}"`);
    expect(markup).toMatch(new RegExp(`href="/${read}"[^]*by \u2068Anna Adler\u2069, as`));

    const list = async (query = '') => {
      const answer = await fetch(`${bed.api.url}/v1/pastes${query}`, { headers: owner.headers });
      return ((await answer.json()) as { pastes: { short_code: string; read_at: string | null }[] }).pastes;
    };
    expect(await list()).toMatchObject([
      { short_code: read, read_at: anInstant },
      { short_code: open, read_at: null },
    ]);
    expect(await list('?status=FAILED')).toEqual([]);
    expect((await list('?status=PROCESSED')).map(({ short_code }) => short_code)).toEqual([read, open]);
    expect((await browseAs(bed.api, cookie, '/my/pastes?sort=expiry')).status).toBe(200);
    await cleanUp(read);
    expect((await list()).map(({ short_code }) => short_code)).toEqual([read, open]);
  });
});

it('a reveal by a program without a user, and a claim of the cleanup, name nobody', async () => {
  const owner = await newUser(bed.db);
  const code = await secretOf(owner);
  await expire(bed.db, code);
  await claimForDeletion(bed.db, code);
  const { burned_at, read_by } = (await pasteRow(bed.db, code))!;
  expect([burned_at, read_by]).toEqual([null, null]);
  expect((await ask(code, owner.headers)).status).toBe(410);
});
