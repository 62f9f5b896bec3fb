import { beforeAll, describe, expect, it } from '@jest/globals';
import { readPayload } from '@pasteflow/postgres';
import { useApi } from './support/api.ts';
import { postJson } from './support/http.ts';
import { pasteRow, processedPaste, upload } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi({ contentWaitMs: 0 });
let owner: TestUser;
beforeAll(async () => {
  owner = await newUser(bed.db);
});

const files = [
  { name: 'a.txt', content: 'first', syntax: 'rust' },
  { name: 'b.txt', content: 'second' },
];

async function stored(options: object = {}): Promise<string> {
  const answer = await postJson(bed.api.url, { files, ...options }, owner.headers);
  const { short_code: code } = (await answer.json()) as { short_code: string };
  await upload(bed.db, bed.store, code, 'firstsecond');
  return code;
}

/** The form of a page without JavaScript. */
async function send(
  fields: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; page: string; code: string }> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  for (const [name, content] of Object.entries(sent)) body.append('content', new Blob([content]), name);
  const answer = await fetch(`${bed.api.url}/`, {
    method: 'POST',
    body,
    headers: { Accept: 'text/html', ...headers },
  });
  return {
    status: answer.status,
    page: await answer.text(),
    code: answer.headers.get('Location')?.split('/').at(-1) ?? '',
  };
}

const filesOf = async (code: string) => (await pasteRow(bed.db, code))!.files;

describe('the files that a form without JavaScript names', () => {
  it('are those of the new paste as well, with their languages, and a file takes the place of its name', async () => {
    const code = await stored();
    const made = await send({ files_of: code, keep_0: 'on', keep_1: 'on' }, { 'b.txt': 'other', c: 'third' });
    expect(await filesOf(made.code)).toEqual([
      { name: 'a.txt', offset: 0, size: 5, syntax: 'rust' },
      { name: 'b.txt', offset: 5, size: 5, syntax: null },
      { name: 'c', offset: 10, size: 5, syntax: null },
    ]);
    const { id } = (await pasteRow(bed.db, made.code))!;
    expect((await readPayload(bed.db, id))?.toString()).toBe('firstotherthird');
  });

  it('are replaced by a file whose name macOS writes in another form, and never by one of two', async () => {
    const named = [{ name: 'ä', content: 'first' }, files[1]];
    const code = await stored({ files: named });
    const made = await send({ files_of: code, keep_0: 'on', keep_1: 'on' }, { 'a\u0308': 'other!' });
    expect((await filesOf(made.code))?.map(({ name, size }) => [name, size])).toEqual([
      ['ä', 6],
      ['b.txt', 6],
    ]);
    const both = { 'a\u0308': 'one', ä: 'two' };
    expect((await send({ files_of: code, keep_0: 'on', keep_1: 'on' }, both)).status).toBe(422);
  });

  it('are one paste without files when one is left, whose title is its name', async () => {
    const made = await send({ files_of: await stored(), keep_0: 'on', title: '' });
    expect(await pasteRow(bed.db, made.code)).toMatchObject({ title: 'a.txt', syntax: 'rust', files: null });
  });

  it('are none of a paste that the sender can not read, that is not stored, or that has no files', async () => {
    const secret = await stored({ visibility: 'private' });
    for (const code of [secret, 'missing123']) {
      const { status, page } = await send({ files_of: code, keep_0: 'on' });
      expect([code, status]).toEqual([code, 422]);
      expect(page).toContain('You can no longer read the paste');
      expect(page).not.toContain('a.txt');
      expect(page).not.toContain('keep_0'); // the next try would be refused again
    }
    expect((await send({ files_of: secret, keep_0: 'on' }, {}, owner.headers)).status).toBe(201);
    const one = await processedPaste(bed, 'one content');
    expect((await send({ files_of: one, keep_0: 'on' })).status).toBe(422);
  });

  it('are no part of the API', async () => {
    const body = new FormData();
    body.append('files_of', await stored());
    body.append('keep_0', 'on');
    body.append('file', new Blob(['x']), 'x');
    expect((await fetch(`${bed.api.url}/v1/pastes`, { method: 'POST', body })).status).toBe(422);
  });
});
