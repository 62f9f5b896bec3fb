import { execFileSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { fromBufferPromise } from 'yauzl';
import { zipBytesOf, zipFiles, type ZippedFiles } from '../src/zip-files.ts';
import { readZip } from '../src/types/import/read-zip.ts';

const zipped: ZippedFiles = {
  files: [
    { name: 'a', size: 3 },
    { name: 'empty', size: 0 },
    { name: 'ä/b', size: 5 },
    { name: 'end', size: 0 },
  ],
  mtime: new Date(1_760_000_000_000),
};
const CONTENT = Buffer.from('abcdefgh');

const inPieces = (bytes: number) =>
  Array.from({ length: Math.ceil(CONTENT.length / bytes) }, (_, n) =>
    CONTENT.subarray(n * bytes, (n + 1) * bytes),
  );

async function unzipped(zip: Buffer): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {};
  const options = { maxKeptBytes: 100, signal: new AbortController().signal };
  for await (const { name, content } of readZip(zip, options)) files[name] = String(content);
  return files;
}

it.each([1, 2, 3, 8])('writes the same files from pieces of %i bytes', async (bytes) => {
  const zip = await buffer(Readable.from(zipFiles(inPieces(bytes), zipped)));
  expect(zip).toHaveLength(zipBytesOf(zipped));
  expect(zip.equals(await buffer(Readable.from(zipFiles([CONTENT], zipped))))).toBe(true);
  expect(await unzipped(zip)).toEqual({ a: 'abc', empty: '', 'ä/b': 'defgh', end: '' });
});

it('reads no more than its reader asks for, and closes the content when the reader stops', async () => {
  let read = 0;
  let isClosed = false;
  async function* content(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        read += 1;
        yield Buffer.alloc(65_536);
      }
    } finally {
      isClosed = true;
    }
  }
  const large = { ...zipped, files: [{ name: 'a', size: 2 ** 30 }] };
  for await (const _piece of zipFiles(content(), large)) if (read > 2) break;
  expect(isClosed).toBe(true);
  expect(read).toBeLessThan(50); // the streams between them hold some 64 KiB each
});

it.each(['ends too early', 'fails'])('fails when the content %s', async (how) => {
  async function* content(): AsyncGenerator<Buffer> {
    yield CONTENT.subarray(0, 4);
    if (how === 'fails') throw new Error('S3 cut the object off.');
  }
  await expect(buffer(Readable.from(zipFiles(content(), zipped)))).rejects.toThrow(
    how === 'fails' ? 'S3 cut the object off.' : 'The content ended before its last file.',
  );
});

/** Zips of a process in a time zone: of the files of a paste, and of an export. */
function zipsIn(timeZone: string): readonly Buffer[] {
  const script = `
    import { buffer } from 'node:stream/consumers';
    import { Readable } from 'node:stream';
    import { zipFiles } from '${import.meta.resolve('../src/zip-files.ts')}';
    import { archiveFormats } from '${import.meta.resolve('../src/types/export/archive-formats.ts')}';
    const [mtime, content] = [new Date('2026-11-27T23:30:58Z'), Buffer.from('abc')];
    const zip = zipFiles([content], { files: [{ name: 'a', size: 3 }], mtime });
    const paste = { shortCode: 'code', title: 'a', files: null, createdAt: mtime };
    const exported = archiveFormats.zip.write(Readable.from([{ paste, content }]));
    for (const each of [Readable.from(zip), exported]) console.log((await buffer(each)).toString('hex'));`;
  const node = ['--conditions=source', '--input-type=module', '--eval', script];
  const env = { ...process.env, TZ: timeZone, NODE_OPTIONS: '' };
  const printed = execFileSync(process.execPath, node, { env, encoding: 'utf8' });
  return printed
    .trim()
    .split('\n')
    .map((line) => Buffer.from(line, 'hex'));
}

it('writes the same bytes, with the time in UTC, in each time zone', async () => {
  const [here, there] = [zipsIn('America/Los_Angeles'), zipsIn('Asia/Tokyo')];
  expect(here).toHaveLength(2);
  expect(there).toEqual(here);
  for (const zip of here)
    for await (const entry of (await fromBufferPromise(zip)).eachEntry()) {
      // 2026-11-27 and 23:30:58, as DOS writes them.
      expect(entry.lastModFileDate).toBe(((2026 - 1980) << 9) | (11 << 5) | 27);
      expect(entry.lastModFileTime).toBe((23 << 11) | (30 << 5) | (58 / 2));
      expect(entry.getLastModDate().toISOString()).toBe('2026-11-27T23:30:58.000Z');
    }
});
