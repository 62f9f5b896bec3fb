import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { json, pasteWith, problem, useBed, type Handler } from './support/bed.ts';
import { route } from './support/jobs.ts';

const bed = useBed();

const ETAG = '"0f"';

/** Serves the content, with ranges. `cutAt`: cuts the connection after so many bytes. */
function content(bytes: Buffer, cutAt = Infinity): Handler {
  return ({ headers }, res) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const isPart = headers.range !== undefined;
    const rest = bytes.subarray(from);
    res.writeHead(isPart ? 206 : 200, {
      'content-type': 'text/plain',
      'content-length': String(rest.length),
      etag: ETAG,
      ...(isPart && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (cutAt >= rest.length) return void res.end(rest);
    res.write(rest.subarray(0, cutAt), () => setTimeout(() => res.socket?.destroy(), 20));
  };
}

const hostile = Buffer.from('one\u001b[2J\u009b31m\r\ntwo\t\u202e\n');

describe('pasteflow cat', () => {
  it('prints every byte as it is when stdout is no terminal', async () => {
    bed.script(content(hostile));
    const { code, stdout } = await bed.run(['cat', 'q7Zk2Lm9Xa']);
    expect([code, stdout]).toEqual([0, hostile.toString()]);
  });

  it('shows nothing on a terminal that could act on it, unless --raw is given', async () => {
    route(bed, {
      'GET /v1/pastes/q7Zk2Lm9Xa': json(200, pasteWith({ files: null })),
      'GET /v1/pastes/q7Zk2Lm9Xa/content': content(hostile),
    });
    const shown = await bed.run(['cat', 'q7Zk2Lm9Xa'], { tty: ['stdout'] });
    expect(shown.stdout).toBe('one\\u{1b}[2J\\u{9b}31m\ntwo\t\\u{202e}\n');
    const raw = await bed.run(['cat', '--raw', 'q7Zk2Lm9Xa'], { tty: ['stdout'] });
    expect(raw.stdout).toBe(hostile.toString());
  });

  it('takes URLs of its server, with an extension, and refuses those of others', async () => {
    bed.script(content(Buffer.from('x')));
    expect((await bed.run(['cat', `${bed.url}/q7Zk2Lm9Xa.rs`])).stdout).toBe('x');
    expect(bed.requests[0]!.path).toBe('/v1/pastes/q7Zk2Lm9Xa/content');
    for (const other of ['https://elsewhere.test/q7Zk2Lm9Xa', `${bed.url}.evil.test/q7Zk2Lm9Xa`]) {
      const { code, stderr } = await bed.run(['cat', other]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('another server')]);
    }
    expect(bed.requests).toHaveLength(1);
  });
});

describe('pasteflow cat --output', () => {
  const path = () => join(bed.home, 'saved');
  const args = () => ['cat', 'q7Zk2Lm9Xa', '-o', path()];

  it('continues at the same byte when the connection breaks off, and makes a whole file', async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, n) => n % 251));
    bed.script(content(bytes, 70_000), content(bytes, 50_000), content(bytes));
    expect(await bed.run(args())).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await readFile(path())).equals(bytes)).toBe(true);
    expect(bed.requests.map(({ headers }) => headers.range ?? null)[0]).toBeNull();
    expect(bed.requests[1]!.headers['if-match']).toBe(ETAG);
    expect(await readdir(bed.home)).toEqual(['saved']);
  });

  it('leaves the old file and no half file when it is interrupted', async () => {
    await writeFile(path(), 'old');
    const interrupt = new AbortController();
    bed.script((_request, res) => {
      res.writeHead(200, { 'content-length': '100', etag: ETAG });
      res.write('half', () => setTimeout(() => interrupt.abort(new Error('Ctrl-C')), 50));
    });
    const { code, stderr } = await bed.run(args(), { signal: interrupt.signal });
    expect([code, stderr]).toEqual([1, 'pasteflow: Interrupted.\n']);
    expect(await readFile(path(), 'utf8')).toBe('old');
    expect(await readdir(bed.home)).toEqual(['saved']);
  });

  it('leaves nothing when the paste is gone in the middle', async () => {
    bed.script(content(Buffer.alloc(100_000), 10), problem(410, 'paste_gone', 'It has expired.'));
    const { code, stderr } = await bed.run(args());
    expect([code, stderr]).toEqual([1, 'pasteflow: It has expired.\n']);
    expect(await readdir(bed.home)).toEqual([]);
  });

  it('keeps the rights of the file that it replaces', async () => {
    await writeFile(path(), 'old', { mode: 0o600 });
    bed.script(content(Buffer.from('new')));
    expect((await bed.run(args())).code).toBe(0);
    expect([await readFile(path(), 'utf8'), (await stat(path())).mode & 0o777]).toEqual(['new', 0o600]);
  });

  it('writes to a device and does not replace it', async () => {
    bed.script(content(Buffer.from('x')));
    expect((await bed.run(['cat', 'q7Zk2Lm9Xa', '-o', '/dev/null'])).code).toBe(0);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('writes to the file that a symbolic link names, and keeps the link and the folder of the link as they are', async () => {
    const folder = join(bed.home, 'links');
    await mkdir(folder);
    await symlink(path(), join(folder, 'link'));
    await writeFile(path(), 'old');
    bed.script(content(Buffer.from('new')));
    expect((await bed.run(['cat', 'q7Zk2Lm9Xa', '-o', join(folder, 'link')])).code).toBe(0);
    expect(await readFile(path(), 'utf8')).toBe('new');
    expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).toEqual(['link']);
  });

  it('says that a path is a folder', async () => {
    bed.script(content(Buffer.from('x')));
    await chmod(bed.home, 0o700);
    const { code, stderr } = await bed.run(['cat', 'q7Zk2Lm9Xa', '-o', bed.home]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is a directory')]);
  });
});
