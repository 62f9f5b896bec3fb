import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { gzipBomb, overlappingBomb, zipBomb } from './support/bombs.ts';
import { importRefusal, REFUSED_WITHIN_MS } from './support/import-refusal.ts';
import { paxRecords, tarGzOf, tarOf, TAR_END, type TarEntry } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf, type ZipEntry } from './support/zip.ts';

const world = useWorld();
const good = { name: 'good.txt', content: 'good' };
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `${n}`, content: 'x', method: 0 }));

const refusalOf = (source: Buffer) => importRefusal(world, source);

describe('a tar', () => {
  it.each<[string, TarEntry, string]>([
    ['a name that leads out', { name: '../evil' }, 'its entry "../evil" has a name with ".."'],
    ['a name that leads out and in', { name: 'a/../../b/c' }, 'its entry "a/../../b/c" has a name with ".."'],
    ['a folder that leads out', { name: 'a/../', type: '5' }, 'its entry "a/../" has a name with ".."'],
    ['an absolute name', { name: '/etc/passwd' }, 'its entry "/etc/passwd" has an absolute name'],
    ["one of Windows'", { name: 'C:evil' }, 'its entry "C:evil" has an absolute name'],
    ['a backslash', { name: 'a\\..\\b' }, 'its entry "a\\\\..\\\\b" has a backslash in its name'],
    ['no name', { name: '' }, 'its entry "" has no name'],
    ['a symbolic link', { name: 'l', type: '2', linkname: '/etc/passwd' }, 'its entry "l" is a link'],
    ['a hard link', { name: 'l', type: '1', linkname: 'good.txt' }, 'its entry "l" is a link'],
    ['a character device', { name: 'd', type: '3' }, 'its entry "d" is a device'],
    ['a block device', { name: 'd', type: '4' }, 'its entry "d" is a device'],
    ['a pipe', { name: 'd', type: '6' }, 'its entry "d" is a device'],
    ["GNU's sparse file", { name: 's', type: 'S' }, 'its entry "s" is neither a file nor a folder'],
  ])('with %s is refused', async (_, entry, reason) => {
    expect(await refusalOf(tarOf([good, entry]))).toBe(reason);
    expect(await refusalOf(tarGzOf([good, entry]))).toBe(reason);
  });

  it.each([
    [{ path: '../evil' }, 'its entry "../evil" has a name with ".."'],
    [{ path: '/evil' }, 'its entry "/evil" has an absolute name'],
    [{ path: 'a\0b' }, 'its entry "a\\u0000b" has a NUL in its name'],
    [{ 'GNU.sparse.major': '1' }, 'its entry "fine" is a sparse file'],
    [{ size: '-5' }, 'its entry "fine" has a damaged size'],
    [{ size: '1600' }, 'it is truncated'],
    [{ size: '99999999999999' }, 'it inflates to more than 512 MiB'],
  ])('with the pax header %j is refused', async (records, reason) => {
    const pax = { name: 'pax', type: 'x', content: paxRecords(records) };
    expect(await refusalOf(tarOf([good, pax, { name: 'fine', content: 'x' }]))).toBe(reason);
  });

  it('with a long GNU name that leads out of its folder is refused', async () => {
    const long = { name: '././@LongLink', type: 'L', content: `${'a/'.repeat(80)}../../x\0` };
    expect(await refusalOf(tarOf([long, { name: 'fine', content: 'x' }]))).toMatch(/has a name with "\.\."$/);
  });

  it.each<[string, Buffer, string]>([
    [
      'cut off in a file',
      tarOf([good, { name: 'b', content: 'x'.repeat(2000) }]).subarray(0, 2048),
      'it is truncated',
    ],
    [
      'cut off between two files',
      tarOf([good, good], Buffer.alloc(0)),
      'it is truncated: the zeros that end a tar are missing',
    ],
    ['cut off in its last block', tarOf([good]).subarray(0, -100), 'it is truncated'],
    ['damaged in its second header', damaged(tarOf([good, good]), 1024 + 20), 'it has a damaged header'],
  ])('that is %s is refused', async (_, source, reason) => {
    expect(await refusalOf(source)).toBe(reason);
  });
});

function damaged(source: Buffer, at: number): Buffer {
  const copy = Buffer.from(source);
  copy.writeUInt8((copy.readUInt8(at) + 1) & 0xff, at);
  return copy;
}

describe('a tar.gz', () => {
  const whole = tarGzOf([good]);

  it.each<[string, Buffer, string | RegExp]>([
    ['cut off', whole.subarray(0, -10), 'it cannot be read: unexpected end of file'],
    ['damaged', damaged(whole, whole.length - 6), 'it cannot be read: incorrect data check'],
    [
      'followed by something else',
      Buffer.concat([whole, Buffer.from('junk')]),
      'it cannot be read: incorrect header check',
    ],
    [
      'followed by zeros and something else',
      Buffer.concat([whole, Buffer.alloc(9), Buffer.from('junk')]),
      'it has other bytes after its gzip',
    ],
    [
      'followed by half of another',
      Buffer.concat([whole, gzipSync('x').subarray(0, 12)]),
      'it cannot be read: unexpected end of file',
    ],
    ['no tar inside', gzipSync('some text'), /^it (cannot be read|is truncated)/],
  ])('that is %s is refused', async (_, source, reason) => {
    expect(await refusalOf(source)).toEqual(expect.stringMatching(reason));
  });
});

describe('a zip', () => {
  it.each<[string, ZipEntry, string]>([
    ['a name that leads out', { name: 'a/../../x' }, 'its entry "a/../../x" has a name with ".."'],
    ['a folder that leads out', { name: '../x/' }, 'its entry "../x/" has a name with ".."'],
    ['an absolute name', { name: '/x' }, 'its entry "/x" has an absolute name'],
    ["one of Windows'", { name: 'C:/x' }, 'its entry "C:/x" has an absolute name'],
    ['backslashes', { name: '..\\x' }, 'its entry "..\\\\x" has a backslash in its name'],
    ['a NUL in a name', { name: 'a\0b' }, 'its entry "a\\u0000b" has a NUL in its name'],
    ['no name', { name: '' }, 'its entry "" has no name'],
    ['a symbolic link', { name: 'l', content: '/etc/passwd', mode: 0o120777 }, 'its entry "l" is a link'],
    ['a device', { name: 'd', mode: 0o020644 }, 'its entry "d" is a device'],
    ['a pipe', { name: 'd', mode: 0o010644 }, 'its entry "d" is a device'],
    ['an encrypted file', { name: 'e', flags: 0x1, content: 'x' }, 'its entry "e" is encrypted'],
    [
      'a strongly encrypted file',
      { name: 'e', flags: 0x41, content: 'x' },
      'it cannot be read: strong encryption is not supported',
    ],
    [
      'a method that is not supported',
      { name: 'm', method: 12, content: 'x' },
      'its entry "m" is compressed by method 12, which is not supported',
    ],
    [
      'another checksum',
      { name: 'c', content: 'x', crc: 5 },
      'its entry "c" has a checksum that does not match its content',
    ],
    [
      'more content than it says',
      { name: 'm', content: 'x'.repeat(99), size: 5 },
      'it cannot be read: too many bytes in the stream. expected 5. got at least 99',
    ],
    [
      'less content than it says',
      { name: 'm', content: 'x', size: 5 },
      'it cannot be read: not enough bytes in the stream. expected 5. got only 1',
    ],
    [
      'content that is no DEFLATE',
      { name: 'm', data: Buffer.from([7, 7, 7, 7]), size: 4 },
      'it cannot be read: invalid block type',
    ],
  ])('with %s is refused', async (_, entry, reason) => {
    expect(await refusalOf(zipOf([good, entry]))).toBe(reason);
  });

  it.each<[string, Buffer, string | RegExp]>([
    [
      'cut off',
      zipOf([good, good]).subarray(0, -30),
      /^it cannot be read: End of central directory record signature not found/,
    ],
    [
      'followed by something else',
      Buffer.concat([zipOf([good]), Buffer.from('junk')]),
      /^it cannot be read: Invalid comment length/,
    ],
    [
      'its directory longer than it says',
      zipOf([good, { ...good, name: 'b' }], { entryCount: 1 }),
      'its directory has more entries than it states',
    ],
    ['its directory shorter than it says', zipOf([good], { entryCount: 2 }), /^it cannot be read/],
    [
      'its files sharing their data',
      zipOf([good, { ...good, name: 'b', sharesWith: 0 }]),
      'its entry "b" overlaps with another entry',
    ],
  ])('that is %s is refused', async (_, source, reason) => {
    expect(await refusalOf(source)).toEqual(expect.stringMatching(reason));
  });
});

describe('an archive with too many entries', () => {
  it.each<[string, () => Buffer]>([
    ['a tar', () => tarOf(many(10_001))],
    ['a tar of folders', () => tarOf(many(10_001).map(({ name }) => ({ name: `${name}/`, type: '5' })))],
    ['a zip', () => zipOf(many(10_001))],
  ])('is refused: %s', async (_, make) => {
    const source = make();
    const began = performance.now();
    expect(await refusalOf(source)).toBe('it has more than 10000 entries');
    expect(performance.now() - began).toBeLessThan(REFUSED_WITHIN_MS);
  });

  it('is refused: NDJSON', async () => {
    expect(await refusalOf(Buffer.from('{}\n'.repeat(10_001)))).toBe('it has more than 10000 entries');
    const blank = 'it has more than 100000 lines, including blank ones';
    expect(await refusalOf(Buffer.from(`{}${'\n'.repeat(100_001)}`))).toBe(blank);
    expect(await refusalOf(Buffer.from(`{}${'\n'.repeat(10_000_000)}`))).toBe(blank);
  });
});

describe('a bomb', () => {
  it.each<[string, () => Buffer, string]>([
    ['a tar.gz of 512 MiB', () => gzipBomb(8), 'it inflates to more than 200 times its size'],
    [
      'a zip of 10 GiB that says it has a kilobyte',
      () => zipBomb(160),
      'it cannot be read: too many bytes in the stream. expected 1024. got at least 16384',
    ],
    [
      'a zip of 9,000 files that share 64 KiB',
      () => overlappingBomb(9000),
      'it inflates to more than 200 times its size',
    ],
  ])('is refused: %s', async (_, make, reason) => {
    const source = make();
    const began = performance.now();
    expect(await refusalOf(source)).toBe(reason);
    expect(performance.now() - began).toBeLessThan(REFUSED_WITHIN_MS);
  });
});

it('a source that is neither an archive nor NDJSON is refused', async () => {
  for (const source of ['some text', 'PK are letters', '[1]', ' ', '\x1f'])
    expect(await refusalOf(Buffer.from(source))).toBe('it is neither NDJSON nor a tar, a tar.gz or a zip');
  expect(await refusalOf(TAR_END.subarray(0, 300))).toBe('it is neither NDJSON nor a tar, a tar.gz or a zip');
});
