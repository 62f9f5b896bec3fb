import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readArchive } from '../src/types/import/source/read-archive.ts';
import { blocksOf, paxRecords, tarGzOf, tarOf, type TarEntry } from './support/tar.ts';

const BLOCK = 512;
const KIB = 1024;
const MIB = 1024 * KIB;
/** The size of gunzip's pieces. */
const PIECE_BYTES = 256 * KIB;

async function namesIn(format: 'tar' | 'tar.gz', source: Buffer, signal?: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  const options = { maxKeptBytes: 0, signal: signal ?? new AbortController().signal };
  for await (const { name } of readArchive(format, source, options)) names.push(name);
  return names;
}

/** An entry whose header is at the end of a piece, with many more bytes after it that gunzip has not produced yet. */
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
  const pax = (records: Record<string, string>, type = 'x') => ({
    name: 'pax',
    type,
    content: paxRecords(records),
  });
  const tooMany = 'it has more than 64 MiB of headers for its entries';
  const long = { name: '././@LongLink', type: 'L', content: 'name\0' };
  const linkname = { name: '././@LongLink', type: 'K', content: 'name\0' };

  it.each(['g', 'x', 'L', 'K'])('are refused when they are long: %s', async (type) => {
    const content = paxRecords({ comment: 'x'.repeat(256 * KIB) });
    const source = tarOf([{ name: 'long', type, content }, { name: 'file' }]);
    await expect(namesIn('tar', source)).rejects.toThrow('it has a header of more than 256 KiB');
  });

  it.each(['g', 'x', 'L', 'K'])('are refused when they are many: %s', async (type) => {
    const content = paxRecords({ comment: 'x'.repeat(256 * KIB - 20) });
    const header = Buffer.concat(blocksOf({ name: 'long', type, content }));
    const enough = Math.floor((64 * MIB) / (BLOCK + content.length));
    const source = (count: number): Buffer =>
      Buffer.concat([Buffer.alloc(count * header.length, header), tarOf([{ name: 'file' }])]);
    expect(await namesIn('tar', source(enough))).toHaveLength(1);
    await expect(namesIn('tar', source(enough + 1))).rejects.toThrow(tooMany);
  });

  it('are refused when they are many and empty', async () => {
    const [header] = blocksOf({ name: 'empty', type: 'x' }) as [Buffer];
    await expect(namesIn('tar', Buffer.alloc(64 * MIB + BLOCK, header))).rejects.toThrow(tooMany);
  });

  it('may be four for each of ten thousand entries', async () => {
    const source = tarOf(
      Array.from({ length: 10_000 }, (_, n) => [
        pax({ comment: 'x' }, 'g'),
        pax({ path: `${n}` }),
        long,
        linkname,
        { name: 'file' },
      ]).flat(),
    );
    expect(await namesIn('tar', source)).toEqual(Array.from({ length: 10_000 }, (_, n) => `${n}`));
  });
});

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
