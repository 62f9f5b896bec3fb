import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
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
