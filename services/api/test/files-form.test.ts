import { beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readPayload } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { ownPage, problemOf } from './support/http.ts';
import { newKey } from './support/keyed.ts';
import { countPastes, pasteRow, processedPaste } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const MIB = 1024 * 1024;
const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

type Parts = readonly (readonly [
  name: string,
  value: string | Buffer<ArrayBuffer>,
  fileName?: string | undefined,
])[];

function formOf(parts: Parts): FormData {
  const form = new FormData();
  for (const [name, value, fileName] of parts)
    if (fileName === undefined && typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([value]), fileName ?? '');
  return form;
}

const post = (parts: Parts, headers: Readonly<Record<string, string>> = {}, path = '/v1/pastes') =>
  fetch(bed.api.url + path, { method: 'POST', body: formOf(parts), headers });

async function created(parts: Parts, headers: Readonly<Record<string, string>> = {}) {
  const answer = await post(parts, headers);
  expect(answer.status).toBe(201);
  return (await answer.json()) as { short_code: string; [field: string]: unknown };
}

async function contentOf(code: string): Promise<Buffer | null> {
  return await readPayload(bed.db, (await pasteRow(bed.db, code))!.id);
}

const three: Parts = [
  ['file', 'é1', 'src/main.ts'],
  ['file', '', 'empty'],
  ['other', Buffer.from([0xff, 0, 13, 10]), 'data.bin'],
];
const shown = [
  { name: 'src/main.ts', offset: 0, size: 3, syntax: null },
  { name: 'empty', offset: 3, size: 0, syntax: null },
  { name: 'data.bin', offset: 3, size: 4, syntax: null },
];

describe('a form with several files', () => {
  it('makes one paste of them, byte for byte, with its options', async () => {
    const paste = await created([['title', 'All'], ...three, ['expires_in', 'never']]);
    expect(paste).toMatchObject({ title: 'All', files: shown, size_bytes: 7, expires_at: null });
    expect(await contentOf(paste.short_code)).toEqual(
      Buffer.concat([Buffer.from('é1'), Buffer.from([0xff, 0, 13, 10])]),
    );
  });

  it('makes one paste for the shell, and for a browser without JavaScript', async () => {
    const before = await countPastes(bed.db);
    const shell = await post(three, {}, '/');
    const code = new URL((await shell.text()).trim()).pathname.slice(1);
    expect(await pasteRow(bed.db, code)).toMatchObject({ files: shown });
    const page: Parts = [['text', ''], ...three.map(([, value, name]) => ['content', value, name] as const)];
    const browser = await post(page, { accept: 'text/html', ...ownPage(bed.api.url) }, '/');
    expect([browser.status, await countPastes(bed.db)]).toEqual([201, before + 2]);
  });

  it('names their languages in one field', async () => {
    const paste = await created([...three, ['file_syntaxes', 'typescript,,json']]);
    expect(paste).toMatchObject({ files: [{ syntax: 'typescript' }, { syntax: null }, { syntax: 'json' }] });
    expect(await created([...three, ['file_syntaxes', '']])).toMatchObject({ files: shown });
  });

  it('is one paste with an Idempotency-Key, and a conflict with other names', async () => {
    const key = { 'idempotency-key': newKey() };
    const { short_code: code } = await created(three, key);
    expect((await created(three, key)).short_code).toBe(code);
    const renamed = three.map(([name, value], n) => [name, value, `${n}`] as const);
    expect((await post(renamed, key)).status).toBe(422);
  });

  it('can be the newer version of a paste without files', async () => {
    const older = await processedPaste(bed, 'x', { userId: owner.id });
    await sql`UPDATE pastes SET title = 'old.py', syntax = 'python' WHERE short_code = ${older}`.execute(
      bed.db,
    );
    const newer = await created([['supersedes', older], ...three], owner.headers);
    expect(newer).toMatchObject({ title: 'old.py', syntax: null, files: shown });
  });

  it('takes 100 files of 10 MiB together', async () => {
    const size = Math.floor((10 * MIB) / 100);
    const contents = Array.from({ length: 100 }, (_, n) => Buffer.alloc(size, `${n} `));
    const paste = await created(
      contents.map((content, n) => ['f', content, `${'folder/'.repeat(12)}${n}.txt`] as const),
    );
    expect(paste).toMatchObject({ size_bytes: 100 * size });
    expect((await contentOf(paste.short_code))?.equals(Buffer.concat(contents))).toBe(true);
  });

  it.each<[string, Parts, string, string]>([
    ['a text', [...three, ['text', 'x']], 'content', 'must be empty when `text` is not; send one of them'],
    ['a name of a device', [...three, ['f', 'x', 'nul.txt']], 'files.3.name', 'nul'],
    ['one name twice', [...three, ['f', 'x', 'EMPTY']], 'files.3.name', 'the same name'],
    ['a syntax of the whole', [...three, ['syntax', 'python']], 'syntax', 'a syntax of its own'],
    ['too few languages', [...three, ['file_syntaxes', 'python']], 'file_syntaxes', 'there are files: 3'],
    ['an unknown language', [...three, ['file_syntaxes', ',nope!,']], 'files.1.syntax', 'language'],
    [
      'languages without files',
      [
        ['text', 'x'],
        ['file_syntaxes', 'python'],
      ],
      'file_syntaxes',
      'files: 0',
    ],
    ['encryption', [...three, ['encrypted', 'true']], 'files', 'must be empty for an encrypted paste'],
  ])('is refused with %s', async (_name, parts, path, message) => {
    expect(await problemOf(await post(parts))).toMatchObject({
      status: 422,
      errors: expect.arrayContaining([{ path, message: expect.stringContaining(message) }]),
    });
  });

  it('is refused when all are empty', async () => {
    const empty = three.map(([name, , fileName]) => [name, '', fileName] as const);
    expect(await problemOf(await post(empty))).toMatchObject({ status: 422, code: 'content_empty' });
  });

  it('keeps what was entered, when a browser without JavaScript has sent a name that is refused', async () => {
    const parts: Parts = [
      ['text', ''],
      ['title', 'My <title>'],
      ['content', 'x', 'a'],
      ['content', 'y', 'A'],
    ];
    const answer = await post(parts, { accept: 'text/html', ...ownPage(bed.api.url) }, '/');
    const markup = await answer.text();
    expect(answer.status).toBe(422);
    expect(markup).toContain('value="My &lt;title&gt;"');
    expect(markup).toContain('a file before it has the same name');
  });
});

describe('a form with one file', () => {
  it('is that file, whose name stays with the sender', async () => {
    const paste = await created([
      ['file', 'x', 'secret/name.py'],
      ['file_syntaxes', 'python'],
    ]);
    expect(paste).toMatchObject({ title: null, syntax: 'python', files: null });
  });

  it('has the language of the newer version', async () => {
    const older = await processedPaste(bed, 'x', { userId: owner.id });
    await sql`UPDATE pastes SET syntax = 'rust' WHERE short_code = ${older}`.execute(bed.db);
    const parts: Parts = [
      ['supersedes', older],
      ['file', 'y', 'y'],
      ['file_syntaxes', 'python'],
    ];
    expect(await created(parts, owner.headers)).toMatchObject({ syntax: 'python' });
    const newer = await processedPaste(bed, 'x', { userId: owner.id });
    await sql`UPDATE pastes SET syntax = 'rust' WHERE short_code = ${newer}`.execute(bed.db);
    expect(
      await created(
        [
          ['supersedes', newer],
          ['file', 'y', 'y'],
        ],
        owner.headers,
      ),
    ).toMatchObject({ syntax: 'rust' });
  });
});
