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
async function edit(script: string): Promise<Awaited<ReturnType<typeof bed.run>> & { opened: string[] }> {
  const path = join(bed.home, 'bin/my-editor');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\nprintf '%s\\n' "$@" >"$SEEN"\n${script}\n`);
  await chmod(path, 0o755);
  const SEEN = join(bed.home, 'seen');
  const env = { PATH: `${dirname(path)}:/bin:/usr/bin`, SEEN, EDITOR: 'my-editor' };
  const ended = await bed.run(['edit', CODE], { env });
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
    expect((await edit('')).stderr).toBe('Nothing was changed, and no paste was made.\n');
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

  it('keeps the files when one is missing afterwards, or the server refuses them', async () => {
    for (const [script, answers, message] of [
      ['rm "$1"', {}, 'src/a.py: There is no such file'],
      ['echo x >>"$1"', { 'POST /v1/pastes': problem(409, 'superseded', 'Another is newer.') }, 'Another'],
    ] as const) {
      serve(FILES, answers);
      const { code, stdout, stderr } = await edit(script);
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
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
});
