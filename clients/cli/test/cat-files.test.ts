import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fragmentOfKey, messageOfFiles, seal, textOfSealed } from '@pasteflow/sealed';
import { json, pasteWith, problem, useBed, type Handler } from './support/bed.ts';
import { route } from './support/jobs.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';
const THREE: readonly (readonly [string, Buffer])[] = [
  ['src/ä.py', Buffer.from('print("\u001b[2J")')],
  ['b.bin', Buffer.from([0, 255, 10])],
  ['empty', Buffer.alloc(0)],
];
const inHome = (name: string) => join(bed.home, name);
const answer =
  (bytes: Buffer): Handler =>
  (_request, res) =>
    void res.writeHead(200, { 'content-length': String(bytes.length), etag: '"0f"' }).end(bytes);

/** Serves an open paste of these files. */
function serve(files: readonly (readonly [string, Buffer])[], fields: object = {}): void {
  let offset = 0;
  const placed = files.map(([name, { length: size }]) => {
    offset += size;
    return { name, offset: offset - size, size, syntax: null };
  });
  const bytes = Buffer.concat(files.map(([, content]) => content));
  route(bed, {
    [`GET /v1/pastes/${CODE}`]: json(200, pasteWith({ files: placed, size_bytes: bytes.length, ...fields })),
    [`GET /v1/pastes/${CODE}/content`]: answer(bytes),
    [`POST /v1/pastes/${CODE}/reveal`]: answer(bytes),
  });
}

/** Serves an encrypted paste of these files. @returns its URL */
async function serveSealed(files: readonly (readonly [string, Buffer])[]): Promise<string> {
  const attachments = files.map(([name, bytes]) => ({ name, bytes: Uint8Array.from(bytes), syntax: null }));
  const { document, key } = await seal(messageOfFiles(attachments, 'Three'));
  serve([['all', Buffer.from(textOfSealed(document))]], { files: null, encrypted: true, burn: true });
  return `${bed.url}/${CODE}#${fragmentOfKey(key)}`;
}

/** All files below a folder, with their bytes. */
async function tree(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(files.map((path) => readFile(path, 'latin1')));
  return Object.fromEntries(files.map((path, n) => [path.slice(folder.length + 1), contents[n] ?? '']));
}
const WRITTEN = { 'src/ä.py': 'print("\u001b[2J")', 'b.bin': '\u0000ÿ\n', empty: '' };

describe('pasteflow cat of several files', () => {
  it('prints one by its name, also in the decomposed form of macOS, or by its address', async () => {
    serve(THREE);
    for (const args of [
      [CODE, '--file', 'src/ä.py'],
      [CODE, '-f', 'src/a\u0308.py'],
      [`${bed.url}/${CODE}/files/src/%C3%A4.py`],
    ])
      expect(await bed.run(['cat', ...args])).toEqual({ code: 0, stdout: 'print("\u001b[2J")', stderr: '' });
    expect((await bed.run(['cat', CODE, '-f', 'b.bin', '-o', inHome('b')])).code).toBe(0);
    expect(await readFile(inHome('b'), 'latin1')).toBe('\u0000ÿ\n');
  });

  it('prints all bytes in their order into a pipe, and a person sees one file below the other', async () => {
    serve(THREE);
    expect((await bed.run(['cat', CODE])).stdout).toBe(Buffer.concat(THREE.map(([, b]) => b)).toString());
    const shown =
      '==> src/ä.py <==\nprint("\\u{1b}[2J")\n\n==> b.bin <== (3 B that are no text: save them with -o)\n\n==> empty <==\n';
    expect((await bed.run(['cat', CODE], { tty: ['stdout'] })).stdout).toBe(shown);
    const url = await serveSealed(THREE);
    expect((await bed.run(['cat', url], { tty: ['stdout'] })).stdout).toBe(shown);
  });

  it('names the files when there is none of that name', async () => {
    serve(THREE);
    const { code, stdout, stderr } = await bed.run(['cat', CODE, '-f', 'none']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The paste has no file "none". It has "src/ä.py", "b.bin", "empty".');
    serve([['a', Buffer.from('x')]], { files: null });
    expect((await bed.run(['cat', CODE, '-f', 'none'])).stderr).toContain('It has no files with names.');
  });

  it('writes all into a new folder, of an open and of an encrypted paste', async () => {
    serve(THREE);
    expect(await bed.run(['cat', CODE, '-o', inHome('open/')])).toMatchObject({ code: 0, stdout: '' });
    const url = await serveSealed(THREE);
    expect((await bed.run(['cat', url, '-o', inHome('sealed/')])).stderr).toContain('3 files are in');
    expect(await tree(inHome('open'))).toEqual(WRITTEN);
    expect(await tree(inHome('sealed'))).toEqual(WRITTEN);
    expect((await bed.run(['cat', url, '-f', 'b.bin', '-o', inHome('b')])).code).toBe(0);
    serve([['x', Buffer.from('one')]], { files: null, title: 'notes.md' });
    await bed.run(['cat', CODE, '-o', inHome('one/')]);
    expect(await tree(inHome('one'))).toEqual({ 'notes.md': 'one' });
    expect((await readdir(bed.home)).toSorted()).toEqual(['b', 'one', 'open', 'sealed']);
  });

  it('writes nothing where something is, and reads nothing then', async () => {
    serve(THREE, { burn: true });
    await writeFile(inHome('file'), 'old');
    await mkdir(inHome('folder'));
    await mkdir(inHome('folder/old'));
    for (const place of ['file', 'folder', 'none/folder']) {
      const { code } = await bed.run(['cat', CODE, '--reveal', '-o', `${inHome(place)}/`]);
      expect(code).toBe(1);
    }
    expect(bed.requests).toEqual([]);
    expect((await readdir(bed.home)).toSorted()).toEqual(['file', 'folder']);
  });

  it.each([
    '../out',
    '/etc/x',
    'a/../../out',
    String.raw`a\b`,
    'con',
    'a\u0000b',
    'A',
    'a/b',
    'x/',
    './x',
    'n'.repeat(256),
  ])('leaves no folder when a stranger names a file %j', async (name) => {
    const files = [
      ['a', Buffer.from('1')],
      [name, Buffer.from('2')],
    ] as const;
    serve(files);
    const open = await bed.run(['cat', CODE, '-o', inHome('open/')]);
    const sealed = await bed.run(['cat', await serveSealed(files), '-o', inHome('sealed/')]);
    for (const { code, stdout, stderr } of [open, sealed])
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('No file was written')]);
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('leaves no folder when the content breaks off, and when it has another size than its files', async () => {
    serve(THREE);
    const listed = pasteWith({ files: [{ name: 'a', offset: 0, size: 1000, syntax: null }] });
    for (const content of [problem(410, 'paste_gone', 'It has expired.'), answer(Buffer.from('short'))]) {
      route(bed, {
        [`GET /v1/pastes/${CODE}`]: json(200, listed),
        [`GET /v1/pastes/${CODE}/content`]: content,
      });
      expect((await bed.run(['cat', CODE, '-o', inHome('out/')])).code).toBe(1);
    }
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('keeps a paste that was read once until all of its files are printed or saved', async () => {
    const kept = () => readdir(inHome('.local/state/pasteflow/revealed'));
    serve(THREE, { burn: true });
    const one = await bed.run(['cat', CODE, '--reveal', '-f', 'b.bin']);
    expect([one.stdout, await kept()]).toEqual(['\u0000\ufffd\n', [expect.stringMatching(CODE)]]);
    expect(one.stderr).toContain('The server has deleted the paste.');
    await bed.run(['cat', CODE, '--reveal', '-o', inHome('all/')]);
    expect([await tree(inHome('all')), (await kept()).length]).toEqual([WRITTEN, 1]);
  });

  it.each([
    [[CODE, '-f', 'a', '-o', 'x/'], 'Choose one of them'],
    [[CODE, CODE, '-f', 'a'], '--file is for one paste'],
    [[CODE, '-f', 'a', '-f', 'b'], '--file is one file'],
    [[CODE, '-f', 'a', '--from', 'x'], '--from has no names'],
    [['KEY', '-a', 'x', '-f', 'a'], '--attachment saves files by their order'],
  ])('ends with 2 for %j, and sends nothing', async (args, message) => {
    const url = `${bed.url}/${CODE}#${fragmentOfKey(new Uint8Array(32).fill(7))}`;
    const { code, stdout, stderr } = await bed.run([
      'cat',
      ...args.map((arg) => (arg === 'KEY' ? url : arg)),
    ]);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(bed.requests).toEqual([]);
  });
});
