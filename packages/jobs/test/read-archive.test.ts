import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readArchive } from '../src/types/import/open-input.ts';
import { describeManyHeaders } from './support/many-headers.ts';
import { namesIn } from './support/names-in.ts';
import { paxRecords, tarGzOf, tarOf, type TarEntry } from './support/tar.ts';

const BLOCK = 512;
const KIB = 1024;
/** The size of gunzip's pieces. */
const PIECE_BYTES = 256 * KIB;

/**
 * An entry whose header is at the end of a piece, with many more bytes after it that gunzip has not produced
 * yet.
 */
function atTheEndOfAPiece(entry: TarEntry): Buffer {
  const before = { name: 'before', content: Buffer.alloc(PIECE_BYTES - 2 * BLOCK) };
  return tarGzOf([before, entry, { name: 'behind', content: randomBytes(4 * PIECE_BYTES) }]);
}

describe('a tar.gz that is refused at the last header of a piece', () => {
  it.each<[string, TarEntry, string]>([
    ['a link', { name: 'l', type: '2', linkname: 'x' }, 'its entry "l" is a link'],
    ['a name that leads out', { name: '../x' }, 'its entry "../x" has a name with ".."'],
  ])('ends: %s', async (_, entry, reason) => {
    await expect(namesIn('tar.gz', atTheEndOfAPiece(entry))).rejects.toThrow(reason);
  });

  it('ends: too many entries', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({ name: `${n}` }));
    const first = { name: 'first', content: Buffer.alloc(20 * PIECE_BYTES - 10_001 * BLOCK) };
    const source = tarGzOf([first, ...many, { name: 'behind', content: randomBytes(4 * PIECE_BYTES) }]);
    await expect(namesIn('tar.gz', source)).rejects.toThrow('it has more than 10000 entries');
  });
});

describe('the extension headers of a tar', () => {
  it.each(['g', 'x', 'L', 'K'])('are refused when they are long: %s', async (type) => {
    const content = paxRecords({ comment: 'x'.repeat(256 * KIB) });
    const source = tarOf([{ name: 'long', type, content }, { name: 'file' }]);
    await expect(namesIn('tar', source)).rejects.toThrow('it has a header of more than 256 KiB');
  });
});

// The other kinds of headers, and the largest numbers, are in read-archive.volume.ts.
describeManyHeaders({ types: ['x'], entries: 1000 });

it.each([
  'x',
  '0 a=b\n',
  '2 ',
  '5 a=b\n',
  '7 a=b\n',
  '99 a=b\n',
  '5 ab\n',
  'a=b\n',
  '6 a=b\n6 a=b',
  '6 a=b\n\0',
])('a damaged pax header is refused: %j', async (content) => {
  const source = tarOf([{ name: 'pax', type: 'x', content }, { name: 'file' }]);
  await expect(namesIn('tar', source)).rejects.toThrow('it has a damaged pax header');
});

it('an invalid size is refused for a file, but not for a folder', async () => {
  expect(await namesIn('tar', tarOf([{ name: 'a/', type: '5', size: Number.NaN }, { name: 'b' }]))).toEqual([
    'b',
  ]);
  await expect(namesIn('tar', tarOf([{ name: 'a', size: Number.NaN }]))).rejects.toThrow(
    'its entry "a" has a damaged size',
  );
});

it('reading an archive ends when the signal is aborted, with the reason of the signal', async () => {
  const files = Array.from({ length: 100 }, (_, n) => ({ name: `${n}`, content: randomBytes(100 * KIB) }));
  const stop = new AbortController();
  const reason = new Error('the worker stops');
  const archive = readArchive('tar.gz', tarGzOf(files), { maxKeptBytes: 0, signal: stop.signal });
  expect((await archive.next()).value).toMatchObject({ name: '0' });
  stop.abort(reason);
  const rest = (async () => {
    for await (const _ of archive);
  })();
  await expect(rest).rejects.toBe(reason);
});
