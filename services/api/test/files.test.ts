import { beforeAll, describe, expect, it } from '@jest/globals';
import { contentHashOf } from '@pasteflow/service-kit';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { postJson, problemOf } from './support/http.ts';
import { newKey } from './support/keyed.ts';
import { deletedPaste, pasteRow, processedPaste, upload } from './support/pastes.ts';
import { browseAs } from './support/sign-in.ts';
import { newUser, signedInWith, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

const files = [
  { name: 'src/main.ts', content: 'é1', syntax: 'typescript' },
  { name: 'empty', content: '' },
  { name: 'README.md', content: '# x' },
];
const shown = [
  { name: 'src/main.ts', offset: 0, size: 3, syntax: 'typescript' },
  { name: 'empty', offset: 3, size: 0, syntax: null },
  { name: 'README.md', offset: 3, size: 3, syntax: null },
];

async function create(paste: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await postJson(bed.api.url, paste, headers);
  return {
    status: answer.status,
    body: (await answer.json()) as { short_code: string; [field: string]: unknown },
  };
}

async function errorsOf(paste: object): Promise<unknown> {
  const { status, errors } = (await problemOf(await postJson(bed.api.url, paste))) as {
    status: number;
    errors?: unknown;
  };
  return { status, errors };
}

describe('a paste of several files', () => {
  it('is one content, of which each file is a range', async () => {
    const { status, body } = await create({ files, title: 'All' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      title: 'All',
      syntax: null,
      files: shown,
      size_bytes: 6,
      content_hash: contentHashOf(Buffer.from('é1# x')),
    });
    const again = await fetch(`${bed.api.url}/v1/pastes/${body.short_code}`);
    expect(await again.json()).toMatchObject({ files: shown });
  });

  it('has names in one normal form', async () => {
    const { body } = await create({
      files: [
        { name: 'a\u0308', content: 'x' },
        { name: 'b', content: 'y' },
      ],
    });
    expect(body['files']).toMatchObject([{ name: 'ä' }, { name: 'b' }]);
  });

  it('is created once with an Idempotency-Key, which other names or sizes can not have', async () => {
    const key = { 'idempotency-key': newKey() };
    const first = await create({ files }, key);
    expect((await create({ files }, key)).body.short_code).toBe(first.body.short_code);
    const others = [
      { name: 'a', content: 'é1#' },
      { name: 'b', content: ' x' },
    ];
    expect((await create({ files: others }, key)).status).toBe(422);
  });

  it('loses the names with the title, when it is deleted', async () => {
    const { body } = await create({ files, title: 'All' });
    await upload(bed.db, bed.store, body.short_code, 'é1# x');
    expect(await pasteRow(bed.db, body.short_code)).toMatchObject({ title: 'All', files: shown });
    await deletedPaste(bed.db, body.short_code);
    expect(await pasteRow(bed.db, body.short_code)).toMatchObject({ title: null, files: null });
  });

  it('has no language of the whole, also when it is changed', async () => {
    const { body } = await create({ files }, owner.headers);
    const change = (changes: object) =>
      fetch(`${bed.api.url}/v1/pastes/${body.short_code}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', ...owner.headers },
        body: JSON.stringify(changes),
      });
    expect(await problemOf(await change({ title: 'x', syntax: 'python' }))).toMatchObject({
      status: 422,
      errors: [{ path: 'syntax', message: 'must be empty: each file has a syntax of its own' }],
    });
    expect(await (await change({ title: 'New', syntax: null })).json()).toMatchObject({
      title: 'New',
      syntax: null,
      files: shown,
    });
    const page = await browseAs(
      bed.api,
      await signedInWith(bed.db, owner.token),
      `/${body.short_code}/change`,
    );
    expect(await page.text()).not.toContain('name="syntax"');
  });

  it('can supersede one without files, whose syntax it does not have', async () => {
    const older = await processedPaste(bed, 'x', { userId: owner.id });
    await sql`UPDATE pastes SET title = 'old.py', syntax = 'python' WHERE short_code = ${older}`.execute(
      bed.db,
    );
    const { status, body } = await create({ files, supersedes: older }, owner.headers);
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { title: 'old.py', syntax: null, files: shown },
    });
  });
});

it('one file is a paste with its name as the title, unless another one is chosen', async () => {
  const [file] = files;
  expect((await create({ files: [file] })).body).toMatchObject({
    title: 'src/main.ts',
    syntax: 'typescript',
    files: null,
  });
  expect((await create({ files: [file], title: 'T' })).body).toMatchObject({ title: 'T', files: null });
});

it.each([
  [{ files, content: 'x' }, 'content', 'must be left out when you send `files`; send one of them'],
  [{}, 'content', 'must be a text, unless you send `files`'],
  [{ files: ['a'] }, 'files.0', 'must be a JSON object'],
  [{ files: [] }, 'files', 'must have at least one file'],
  [{ files, syntax: 'python' }, 'syntax', 'must be empty: each file has a syntax of its own'],
  [{ files: [...files, { name: '../x', content: 'x' }] }, 'files.3.name', 'must not have . or .. as a part'],
  [{ files: [...files, { name: 'x', content: 'x', syntax: 'nope!' }] }, 'files.3.syntax', expect.any(String)],
  [
    { files: Array.from({ length: 101 }, (_, n) => ({ name: String(n), content: 'x' })) },
    'files',
    'must have at most 100 files',
  ],
  [
    { files: Array.from({ length: 100 }, (_, n) => ({ name: `${'x'.repeat(150)}${n}`, content: 'x' })) },
    'files',
    'must have shorter names: with 100 files, some 100 bytes each',
  ],
  [
    { files: [{ name: 'x'.repeat(201), content: 'x' }] },
    'files.0.name',
    'must have at most 200 characters: the only file is the title of the paste',
  ],
])('refuses %j', async (paste, path, message) => {
  expect(await errorsOf(paste)).toEqual({ status: 422, errors: [{ path, message }] });
});

it('takes as many and as long names as it says', async () => {
  const longest = Array.from({ length: 100 }, (_, n) => ({ name: `${'x'.repeat(98)}${n}`, content: 'x' }));
  expect((await create({ files: longest })).status).toBe(201);
});

it('refuses files that are all empty', async () => {
  const empty = ['a', 'b'].map((name) => ({ name, content: '' }));
  expect(await problemOf(await postJson(bed.api.url, { files: empty }))).toMatchObject({
    code: 'content_empty',
  });
});
