import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, problem, useBed, type Handler } from './support/bed.ts';
import { route } from './support/jobs.ts';

const bed = useBed();
const CODE = 'q7Zk2Lm9Xa';
const CONTENT = Buffer.from('print(1)\n\u0000\u00ff# Notes\n', 'latin1');
const FILES = [
  { name: 'src/a.py', offset: 0, size: 9, syntax: 'python' },
  { name: 'b.bin', offset: 9, size: 2, syntax: null },
  { name: '..notes', offset: 11, size: 8, syntax: null },
];

function serve(files: readonly object[] = FILES, answers: Readonly<Record<string, Handler>> = {}): void {
  route(bed, {
    [`GET /v1/pastes/${CODE}`]: json(200, pasteWith({ files, title: 'Three' })),
    [`GET /v1/pastes/${CODE}/content`]: (_request, res) =>
      void res.writeHead(200, { 'content-length': String(CONTENT.length), etag: '"0f"' }).end(CONTENT),
    'POST /v1/pastes': json(201, pasteWith({ short_code: 'new', url: 'https://x.test/new' })),
    ...answers,
  });
}

/** Runs the command with an editor, which writes its arguments to a file. */
async function edit(
  script: string,
  { args = [], answer }: { args?: readonly string[]; answer?: string } = {},
): Promise<Awaited<ReturnType<typeof bed.run>> & { opened: string[] }> {
  const path = join(bed.home, 'bin/my-editor');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\nprintf '%s\\n' "$@" >"$SEEN"\n${script}\n`);
  await chmod(path, 0o755);
  const SEEN = join(bed.home, 'seen');
  const env = { PATH: `${dirname(path)}:/bin:/usr/bin`, SEEN, EDITOR: 'my-editor' };
  const person = answer === undefined ? {} : { stdin: answer, tty: ['stdin'] as const };
  const ended = await bed.run(['edit', CODE, ...args], { env, ...person });
  return { ...ended, opened: (await readFile(SEEN, 'utf8').catch(() => '')).trim().split('\n') };
}

const sent = () =>
  bed.requests.filter(({ method }) => method === 'POST').map(({ body }) => body.toString('latin1'));

describe('pasteflow edit of several files', () => {
  it('opens those that are text, and saves all of them with their languages as the newer version', async () => {
    serve();
    const { code, stdout, opened } = await edit('echo "# more" >>"$1"');
    expect([code, stdout]).toEqual([0, 'https://x.test/new\n']);
    expect(opened.map((each) => each.split('/files/')[1])).toEqual(['src/a.py', '..notes']);
    const [form = ''] = sent();
    expect(form).toContain(`name="supersedes"\r\n\r\n${CODE}\r\n`);
    expect(form).toContain('name="file_syntaxes"\r\n\r\npython,,\r\n');
    expect(form).toMatch(/filename="src\/a\.py"\r\n.*\r\n\r\nprint\(1\)\n# more\n\r\n/);
    expect(form).toContain(
      'filename="b.bin"\r\nContent-Type: application/octet-stream\r\n\r\n\u0000\u00ff\r\n',
    );
    expect(form).toMatch(/filename="\.\.notes"\r\n.*\r\n\r\n# Notes\n\r\n/);
    await expect(readdir(dirname(dirname(opened[0]!)))).rejects.toThrow('ENOENT');
  });

  it('makes no paste when nothing was changed, and one when bytes have moved between files', async () => {
    serve();
    expect((await edit('')).stderr).toMatch(
      /^The files are in .*\nNothing was changed, and no paste was made.\n$/,
    );
    expect(sent()).toEqual([]);
    const files = [
      { name: 'a', offset: 0, size: 9, syntax: null },
      { name: 'b', offset: 9, size: 10, syntax: null },
    ];
    serve(files);
    // The first file is text, and the bytes of both together stay.
    expect((await edit('printf "print(1)" >"$1"; printf "\\n\\000\\377# Notes\\n" >"${1%a}b"')).code).toBe(0);
    expect(sent()).toHaveLength(1);
  });

  it('makes a new paste from one of somebody else, with the languages of its files', async () => {
    let creations = 0;
    const stranger = problem(401, 'unauthorized', 'Not yours.');
    const made = json(201, pasteWith({ short_code: 'new', url: 'https://x.test/new' }));
    serve(FILES, { 'POST /v1/pastes': (...of) => (creations++ === 0 ? stranger : made)(...of) });
    expect(await edit('echo more >>"$1"')).toMatchObject({ code: 0, stdout: 'https://x.test/new\n' });
    const form = sent().at(-1)!;
    for (const field of [`parent"\r\n\r\n${CODE}`, 'title"\r\n\r\nThree', 'file_syntaxes"\r\n\r\npython,,'])
      expect(form).toContain(`name="${field}\r\n`);
    expect(form).not.toContain('name="files"');
  });

  it('keeps the files when nobody confirms, when they can be no paste, or when the server refuses them', async () => {
    const refuses = { 'POST /v1/pastes': problem(409, 'superseded', 'Another is newer.') };
    for (const [script, message, options, answers] of [
      ['rm "$1"', 'nobody can be asked here', {}, {}],
      ['rm "$1"', 'No paste was made.', { answer: '\n' }, {}],
      ['rm "$1"', 'No paste was made.', { answer: 'no\n' }, {}],
      ['mv "$1" "$2:x"', 'must not have', { args: ['--yes'] }, {}],
      ['ln -s /etc/passwd "$2-link"', '..notes-link is neither a file nor a folder', { args: ['--yes'] }, {}],
      ['for n in $(seq 98); do touch "$2$n"; done', 'A paste has at most 100', { args: ['--yes'] }, {}],
      ['echo x >>"$1"', 'Another is newer', {}, refuses],
    ] as const) {
      serve(FILES, answers);
      const { code, stdout, stderr } = await edit(script, options);
      expect([script, code, stdout, stderr]).toEqual([script, 1, '', expect.stringContaining(message)]);
      const [, folder = ''] = /files that you have edited are in (.*)\./.exec(stderr) ?? [];
      expect(await readFile(join(folder, '..notes'), 'utf8')).toBe('# Notes\n');
      await rm(dirname(folder), { recursive: true });
    }
  });

  it('opens no editor for names of a hostile server', async () => {
    serve([
      { name: '../../evil', offset: 0, size: 9, syntax: null },
      { name: 'b', offset: 9, size: 10, syntax: null },
    ]);
    const { code, stderr, opened } = await edit('');
    expect([code, opened]).toEqual([1, ['']]);
    expect(stderr).toContain('No file was written');
  });

  /** The names and the languages of the files of the last creation. */
  const sentFiles = () => {
    const form = sent().at(-1) ?? '';
    const names = [...form.matchAll(/filename="([^"]*)"/g)].map(([, name]) => name);
    return [names.join(), /file_syntaxes"\r\n\r\n(.*)\r\n/.exec(form)?.[1]];
  };
  const MOVES =
    'cd "${1%src/a.py}"; mv src/a.py main.py; rm b.bin; mkdir new; echo new >new/z.md; echo x >>..notes';

  it('adds, renames and removes files as they are in the folder, once a person has seen which', async () => {
    serve();
    const { code, stdout, stderr } = await edit(MOVES, { answer: 'y\n' });
    expect([code, stdout]).toEqual([0, 'https://x.test/new\n']);
    expect(stderr).toContain(
      '  renamed  src/a.py -> main.py\n  removed  b.bin\n  changed  ..notes\n  added    new/z.md\nSave these changes? [y/N] ',
    );
    expect(sentFiles()).toEqual(['main.py,..notes,new/z.md', 'python,,']);
    expect((await edit(MOVES, { args: ['-y'] })).code).toBe(0);
    expect(sent()).toHaveLength(2);
  });

  it('opens the folder with --folder, also of a paste without text, and leaves out what editors leave there', async () => {
    const binary = [
      { name: 'a~', offset: 0, size: 1, syntax: null },
      { name: 'b', offset: 1, size: 1, syntax: null },
    ];
    serve(binary, {
      [`GET /v1/pastes/${CODE}/content`]: (_request, res) =>
        void res.writeHead(200, { 'content-length': '2', etag: '"0f"' }).end(Buffer.from([255, 254])),
    });
    const none = await edit('');
    expect([none.code, none.opened]).toEqual([1, ['']]);
    expect(none.stderr).toContain('--folder');
    const script =
      'cd "$1"; for n in b~ .b.swp "#b#" .DS_Store c; do echo x >$n; done; ln -s nobody@nowhere ".#b"';
    const { code, opened } = await edit(script, { args: ['--folder', '--yes'] });
    expect([code, opened, sentFiles()]).toEqual([
      0,
      [expect.stringMatching(/\/files$/)],
      ['a~,b,c', undefined],
    ]);
  });

  it('makes several files of one and one of several', async () => {
    const one = pasteWith({ title: 'a.py', syntax: 'python', files: null });
    serve([], { [`GET /v1/pastes/${CODE}`]: json(200, one) });
    await edit('cd "$1"; echo more >more.txt', { args: ['--folder', '-y'] });
    expect(sentFiles()).toEqual(['a.py,more.txt', 'python,']);
    await edit('cd "$1"; echo more >>a.py', { args: ['--folder'] });
    expect(sent().at(-1)).toContain('# Notes\nmore\n');
    expect(sent().at(-1)).not.toContain('filename');
    serve();
    await edit('rm "$2" "${1%src/a.py}b.bin"', { args: ['-y'] });
    expect(sent().at(-1)).toContain('name="title"\r\n\r\nsrc/a.py\r\n');
    const all = await edit('rm "$1" "$2" "${1%src/a.py}b.bin"', { args: ['-y'] });
    expect([all.code, all.stderr]).toEqual([1, expect.stringContaining('All files were removed')]);
    await rm(dirname(dirname(all.opened[1]!)), { recursive: true });
  });
});
