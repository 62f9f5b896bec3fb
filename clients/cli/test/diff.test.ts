import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { problem, reset, useBed, type Handler } from './support/bed.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';
const patch = Buffer.from(
  '--- aaaaaaaaaa\n+++ q7Zk2Lm9Xa\n@@ -1,1 +1,1 @@\n-one\u001b[2J\n+\xff\xfe\r\n',
  'latin1',
);
const answer =
  (body: Buffer): Handler =>
  (_request, res) =>
    void res
      .writeHead(200, { 'content-type': 'text/plain', 'content-length': String(body.length) })
      .end(body);

describe('pasteflow diff', () => {
  it('prints the patch byte for byte, and ends with 0', async () => {
    bed.script(answer(patch));
    const file = join(bed.home, 'changes');
    for (const named of [CODE, `${bed.url}/${CODE}`, '~release-notes'])
      expect(await bed.run(['diff', named, '-o', file])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await readFile(file)).equals(patch)).toBe(true);
    expect(bed.requests.map(({ path }) => path)).toEqual([
      `/${CODE}/diff`,
      `/${CODE}/diff`,
      '/~release-notes/diff',
    ]);
    expect(await bed.run(['diff', CODE])).toMatchObject({ code: 0, stdout: patch.toString() });
  });

  it('shows nothing on a terminal that could act on it, unless --raw is given', async () => {
    bed.script(answer(patch));
    expect((await bed.run(['diff', CODE], { tty: ['stdout'] })).stdout).toContain('-one\\u{1b}[2J\n');
    expect((await bed.run(['diff', '--raw', CODE], { tty: ['stdout'] })).stdout).toContain('\u001b[2J');
  });

  it('prints nothing for equal content, and ends with 0', async () => {
    bed.script(answer(Buffer.alloc(0)));
    expect(await bed.run(['diff', CODE])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('waits for uploads in progress, and reads again what has broken off', async () => {
    const waiting: Handler = (_request, res) =>
      void res.writeHead(503, { 'retry-after': '0', 'content-length': '0', 'x-request-id': '1' }).end();
    const cut: Handler = (_request, res) => {
      res.writeHead(200, { 'content-length': String(patch.length) });
      res.write(patch.subarray(0, 9), () => setTimeout(() => res.socket?.destroy(), 20));
    };
    bed.script(...Array<Handler>(8).fill(waiting), reset, cut, answer(patch)); // more than a request is tried
    expect(await bed.run(['diff', CODE])).toMatchObject({ code: 0, stdout: patch.toString() });
    expect(bed.requests).toHaveLength(11);
  });

  it('says why there is no patch, ends with 1, and leaves the old file', async () => {
    bed.script(problem(404, 'no_diff', 'This paste was not made from another one.'));
    const file = join(bed.home, 'changes');
    const { code, stdout, stderr } = await bed.run(['diff', CODE, '-o', file]);
    expect([code, stdout, stderr]).toEqual([1, '', 'pasteflow: This paste was not made from another one.\n']);
    expect(await readdir(bed.home)).toEqual([]);
  });
});
