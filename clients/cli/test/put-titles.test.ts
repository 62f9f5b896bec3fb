import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, useBed } from './support/bed.ts';

const bed = useBed();
const created = () => json(201, pasteWith());

describe('pasteflow put', () => {
  const titles = (): (string | null)[] =>
    bed.requests.map(({ path }) => new URL(path, bed.url).searchParams.get('title'));

  it('takes the name of the file as the title, unless --title names another one or none', async () => {
    bed.script(created());
    const odd = join(bed.home, 'a\u001b[2Jb.txt');
    const path = join(bed.home, 'code.ts');
    for (const file of [path, odd]) await writeFile(file, 'x');
    for (const args of [[path], ['-t', 'Mine', path], ['-t', '', path], [odd], ['-']])
      expect(await bed.run(['put', ...args], { stdin: 'x' })).toMatchObject({ code: 0 });
    expect(titles()).toEqual(['code.ts', 'Mine', '', null, null]);
  });

  it.each([
    ['pyhton', 'Did you mean python?'],
    ['typscript', 'Did you mean typescript?'],
    ['klingon', 'The languages are text, c, cpp,'],
  ])('refuses the language %j with 2, and names the nearest one', async (syntax, message) => {
    for (const args of [[], ['--encrypt']]) {
      const { code, stderr } = await bed.run(['put', '-s', syntax, ...args], { stdin: 'x' });
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(bed.requests).toEqual([]);
  });

  it('sends a language by the name that the pages know', async () => {
    bed.script(created());
    await bed.run(['put', '-s', 'MJS'], { stdin: 'x' });
    expect(new URL(bed.requests[0]!.path, bed.url).searchParams.get('syntax')).toBe('javascript');
  });

  it('names a file that is missing once', async () => {
    const { code, stderr } = await bed.run(['put', 'nosuch']);
    expect([code, stderr]).toEqual([1, 'pasteflow: nosuch: There is no such file or folder.\n']);
  });

  it('says which field is wrong, and nothing of the names of programs', async () => {
    const fields = { code: 'validation_failed', detail: 'Correct the fields named in `errors`.' };
    const errors = [{ path: 'expires_in', message: 'must be whole seconds' }];
    bed.script(json(422, { ...fields, errors }, { 'content-type': 'application/problem+json' }));
    const { code, stderr } = await bed.run(['put', '-e', '5s'], { stdin: 'x' });
    expect([code, stderr]).toEqual([1, 'pasteflow: stdin: expires_in must be whole seconds.\n']);
  });
});
