import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { keyOfFragment, openSealed, parseSealedText } from '@pasteflow/sealed';
import { namesOf } from '../src/files/named-files.ts';
import { json, pasteWith, useBed } from './support/bed.ts';

const bed = useBed();
const URL_OF = 'https://paste.example.org/q7Zk2Lm9Xa';
const created = json(201, pasteWith());

/** Writes files into the home folder. @returns their paths */
async function filesIn(contents: Readonly<Record<string, string | Buffer>>): Promise<string[]> {
  const entries = Object.entries(contents);
  return await Promise.all(
    entries.map(async ([name, content]) => {
      const path = join(bed.home, name);
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, content);
      return path;
    }),
  );
}

/** The fields and files of a form, in their order. */
function partsOf({ headers, body }: (typeof bed.requests)[0]): readonly (readonly [string, string])[] {
  const [, boundary = ''] = /boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? [];
  return body
    .toString('latin1')
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = '', content = ''] = part.split('\r\n\r\n');
      const [, name = '', file] = /name="([^"]*)"(?:; filename="([^"]*)")?/.exec(head) ?? [];
      return [file === undefined ? name : `file ${file}`, content.slice(0, -2)];
    });
}

describe('pasteflow put of several files', () => {
  it('makes one paste of them, with their bytes, in the order of the arguments', async () => {
    bed.script(created);
    const paths = await filesIn({ 'b.py': 'print(1)\n', 'a.bin': Buffer.from([0, 255]), empty: '' });
    const ended = await bed.run(['put', ...paths, '-', '-t', 'four', '-s', 'py', '-e', '1h'], { stdin: 'x' });
    expect(ended).toEqual({ code: 0, stdout: `${URL_OF}\n`, stderr: '' });
    expect(bed.requests.map(({ path }) => path)).toEqual(['/v1/pastes']);
    expect(partsOf(bed.requests[0]!)).toEqual([
      ['title', 'four'],
      ['expires_in', '3600'],
      ['file_syntaxes', 'python,python,python,python'],
      ['file b.py', 'print(1)\n'],
      ['file a.bin', '\u0000ÿ'],
      ['file empty', ''],
      ['file stdin', 'x'],
    ]);
  });

  it('makes a paste of each with --each', async () => {
    bed.script(created);
    const { stdout } = await bed.run(['put', '--each', ...(await filesIn({ a: '1', b: '2' }))]);
    expect(stdout).toBe(`${URL_OF}\n${URL_OF}\n`);
    expect(bed.requests.map(({ body }) => body.toString()).toSorted()).toEqual(['1', '2']);
  });

  it('encrypts all of them as one paste, whose names the server does not learn', async () => {
    bed.script(created);
    const paths = await filesIn({ 'secret.py': 'print(1)\n', 'a.bin': Buffer.from([0, 255]) });
    const { stdout } = await bed.run(['put', '--encrypt', '-t', 'Two', ...paths]);
    const [{ path, body }] = bed.requests as [(typeof bed.requests)[0]];
    expect(path + body.toString()).not.toMatch(/secret|Two/);
    const key = keyOfFragment(new URL(stdout.trim()).hash)!;
    const { attachments, ...message } = await openSealed(parseSealedText(body.toString()), key);
    expect(message).toEqual({ text: '', title: 'Two', syntax: null });
    expect(attachments.map(({ name, bytes }) => [name, Buffer.from(bytes).toString('latin1')])).toEqual([
      ['secret.py', 'print(1)\n'],
      ['a.bin', '\u0000ÿ'],
    ]);
  });

  it('makes no paste when one of them can not be read, and names it', async () => {
    const [first] = await filesIn({ a: '1' });
    for (const args of [[], ['--encrypt']]) {
      const missing = join(bed.home, 'not here');
      const { code, stdout, stderr } = await bed.run(['put', ...args, first!, missing, bed.home]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('not here: There is no such file or folder.\n');
    }
    expect(bed.requests).toEqual([]);
  });

  it('refuses names that a paste can not have, before it sends anything', async () => {
    const paths = await filesIn({ a: '1', 'folder/A': '2', 'c:d': '3' });
    for (const [args, message] of [
      [paths.slice(0, 2), 'The name "A" must be another one'],
      [[paths[0]!, paths[2]!], 'The name "c:d" must not have'],
      [Array.from({ length: 101 }, (_, n) => `${n}`), 'at most 100 files'],
    ] as const) {
      const { code, stdout, stderr } = await bed.run(['put', ...args]);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
      expect(stderr).toContain('--each');
    }
    expect(bed.requests).toEqual([]);
  });

  it('names files as paths below the current folder, and others without their folders', () => {
    expect(
      namesOf([
        './src/a.py',
        'src/../b.py',
        join(process.cwd(), 'c/d'),
        '/etc/hosts',
        '../x/..y',
        '..z',
        '-',
      ]),
    ).toEqual(['src/a.py', 'b.py', 'c/d', 'hosts', '..y', '..z', 'stdin']);
    expect(namesOf(['a\u0308.txt', 'b'])).toEqual(['ä.txt', 'b']);
  });
});
