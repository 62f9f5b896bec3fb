import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fragmentOfKey, seal, textOfSealed } from '@pasteflow/sealed';
import { json, pasteWith, useBed, type Handler } from './support/bed.ts';
import { route } from './support/jobs.ts';

const bed = useBed();

const CODE = 'q7Zk2Lm9Xa';
const REVEAL = `POST /v1/pastes/${CODE}/reveal`;
const image = new Uint8Array([0, 255, 10, 13]);
const report = new Uint8Array([1, 2]);
const [IMAGE, REPORT] = [
  { name: '../../evil\u001b[2J.png', bytes: image, syntax: null },
  { name: '/etc/passwd', bytes: report, syntax: null },
];

const inHome = (name: string) => join(bed.home, name);
const answer =
  (bytes: Buffer): Handler =>
  (_request, res) =>
    void res.writeHead(200, { 'content-length': String(bytes.length), etag: '"0f"' }).end(bytes);

/** Serves an encrypted paste, which is deleted when it is read if somebody reveals it. @returns its URL */
async function serve(text: string, attachments: readonly (typeof IMAGE)[]): Promise<string> {
  const { document, key } = await seal({ text, attachments, title: null, syntax: null });
  const bytes = Buffer.from(textOfSealed(document));
  route(bed, {
    [`GET /v1/pastes/${CODE}`]: json(
      200,
      pasteWith({ burn: true, encrypted: true, size_bytes: bytes.length }),
    ),
    [`GET /v1/pastes/${CODE}/content`]: answer(bytes),
    [REVEAL]: answer(bytes),
  });
  return `${bed.url}/${CODE}#${fragmentOfKey(key)}`;
}

describe('pasteflow cat --attachment', () => {
  it('saves the attachments under the names of the person, never under their own, and prints the text', async () => {
    const url = await serve('see the files', [IMAGE, REPORT]);
    const { code, stdout, stderr } = await bed.run(['cat', url, '-a', inHome('a'), '-a', inHome('b')]);
    expect([code, stdout]).toEqual([0, 'see the files']);
    expect(stderr).toContain(`The attachment ../../evil\\u{1b}[2J.png is in ${inHome('a')}\n`);
    expect((await readdir(bed.home)).toSorted()).toEqual(['a', 'b']);
    expect([...(await readFile(inHome('a')))]).toEqual([...image]);
    expect([...(await readFile(inHome('b')))]).toEqual([...report]);
  });

  it('prints nothing of a paste without a text', async () => {
    const url = await serve('', [IMAGE]);
    expect(await bed.run(['cat', url, '--attachment', inHome('a')])).toMatchObject({ code: 0, stdout: '' });
    expect([...(await readFile(inHome('a')))]).toEqual([...image]);
  });

  it('names the attachments that are not saved, not more of them than a person reads', async () => {
    const url = await serve('text', Array(30).fill({ name: 'n'.repeat(1000), bytes: report, syntax: null }));
    const { code, stdout, stderr } = await bed.run(['cat', url, '-a', inHome('a')]);
    expect([code, stdout]).toEqual([0, 'text']);
    expect(stderr).toContain('and 9 others. To save them, add --attachment FILE');
    expect(stderr.length).toBeLessThan(3000);
  });

  it('writes nothing when the paste has fewer attachments, and leaves the old file', async () => {
    const url = await serve('text', [IMAGE]);
    await writeFile(inHome('a'), 'old');
    const { code, stdout, stderr } = await bed.run(['cat', url, '-a', inHome('a'), '-a', inHome('b')]);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('the paste has 1 attachments')]);
    expect(await readdir(bed.home)).toEqual(['a']);
    expect(await readFile(inHome('a'), 'utf8')).toBe('old');
  });

  it.each([
    [[`${CODE}`, '-a', 'x'], 'Name the paste by its whole URL with the key'],
    [['KEY', 'KEY', '-a', 'x'], '--attachment is for one paste'],
    [['KEY', '-a', 'x', '-a', './x'], 'a file of its own'],
    [['KEY', '-a', 'x', '-o', 'x'], 'a file of its own'],
    [['KEY', '-a', '-'], 'a file of its own'],
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

describe('pasteflow cat --reveal --attachment', () => {
  const kept = () => readdir(inHome('.local/state/pasteflow/revealed'));

  it('keeps the paste until each of its attachments is saved', async () => {
    const url = await serve('text', [IMAGE, REPORT]);
    const some = await bed.run(['cat', '--reveal', url, '-a', inHome('a')]);
    expect([some.code, some.stdout]).toEqual([0, 'text']);
    expect(some.stderr).toContain('cat --from');
    const [file] = await kept();
    const from = ['--from', inHome(`.local/state/pasteflow/revealed/${file}`)];
    const all = await bed.run(['cat', ...from, url, '-a', inHome('a'), '-a', inHome('b')]);
    expect([all.code, [...(await readFile(inHome('b')))]]).toEqual([0, [...report]]);
    await bed.run(['cat', '--reveal', url, '-a', inHome('a'), '-a', inHome('b')]);
    expect(await kept()).toEqual([file]);
  });

  it('reveals nothing when an attachment could not be saved', async () => {
    const url = await serve('text', [IMAGE]);
    await mkdir(inHome('folder'));
    for (const file of ['none/file', 'folder'])
      expect((await bed.run(['cat', '--reveal', url, '-a', inHome(file)])).code).toBe(1);
    expect(bed.requests).toEqual([]);
  });
});
