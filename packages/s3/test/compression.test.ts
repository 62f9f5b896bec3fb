import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { compress, contentRange, DamagedObjectError, decompress, type StoredObject } from '../src/index.ts';

/** 300,000 bytes of words in an order without repetition, the same in each run. */
const prose = Buffer.from(
  Array.from({ length: 60_000 }, (_, n) => {
    const digest = hash('sha256', String(n));
    return `word${Number.parseInt(digest.slice(0, 4), 16) % 1000}${n % 9 === 0 ? '\n' : ' '}`;
  }).join(''),
).subarray(0, 300_000);

const text = (bytes: number): Buffer => Buffer.alloc(bytes, 'The quick brown fox jumps over the lazy dog.\n');

describe('compressing content', () => {
  it.each([512, 2048, 64 * 1024, 64 * 1024 + 1, 3 * 1024 * 1024])(
    'makes a smaller gzip of %i bytes of text, with the same content',
    async (bytes) => {
      const compressed = await compress(text(bytes));
      expect(compressed!.length).toBeLessThan(bytes / 2);
      expect(gunzipSync(compressed!).equals(text(bytes))).toBe(true);
    },
  );

  it('is not done for a short content, nor for one that would hardly become smaller', async () => {
    expect(await compress(text(511))).toBeNull();
    expect(await compress(randomBytes(100_000))).toBeNull();
    expect(await compress(Buffer.concat([randomBytes(91_000), text(9000)]))).toBeNull();
    expect(await compress(Buffer.from(randomBytes(75_000).toString('base64')))).not.toBeNull();
  });

  it.each([512, 1000, 2048, 4096, 20_000, 64 * 1024, 300_000])(
    'makes of %i bytes of prose what gzip makes with its full window and memory',
    async (bytes) => {
      const content = prose.subarray(0, bytes);
      expect(content).toHaveLength(bytes);
      expect((await compress(content))!.equals(gzipSync(content, { level: 4 }))).toBe(true);
    },
  );
});

describe('decompressing an object', () => {
  it.each([2048, 256 * 1024, 256 * 1024 + 1])('returns the content of %i bytes', async (bytes) => {
    expect((await decompress(gzipSync(text(bytes)), 'gzip', bytes)).equals(text(bytes))).toBe(true);
  });

  it.each<[string, (object: Buffer) => Buffer]>([
    ['cut off', (object) => object.subarray(0, -1)],
    ['empty', () => Buffer.alloc(0)],
    ['no gzip', () => text(2048)],
    ['a gzip of other bytes than its checksum', (object) => changed(object, object.length - 6)],
    ['a gzip of a shorter content', () => gzipSync(text(2047))],
    ['a gzip of a longer content', () => gzipSync(text(2049))],
  ])('refuses an object that is %s', async (_name, damage) => {
    const object = damage(gzipSync(text(2048)));
    await expect(decompress(object, 'gzip', 2048)).rejects.toBeInstanceOf(DamagedObjectError);
  });

  it('stops at the size of the content, so that a bomb takes no memory', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    for (const size of [2048, 256 * 1024 + 1])
      await expect(decompress(bomb, 'gzip', size)).rejects.toMatchObject({
        name: 'DamagedObjectError',
        cause: { code: 'ERR_BUFFER_TOO_LARGE' },
      });
  });

  it('refuses an uncompressed object of another size', async () => {
    await expect(decompress(text(10), null, 11)).rejects.toBeInstanceOf(DamagedObjectError);
  });
});

function changed(bytes: Buffer, position: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[position]! ^= 0xff;
  return copy;
}

/** An object whose body arrives in pieces. */
function objectOf(
  bytes: Buffer,
  { encoding = 'gzip', piece = 1000 }: { encoding?: StoredObject['encoding']; piece?: number } = {},
): StoredObject {
  const pieces = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, n) =>
    bytes.subarray(n * piece, (n + 1) * piece),
  );
  return { body: Readable.from(pieces), contentLength: bytes.length, encoding, isPart: false };
}

describe('a range of the content of an open object', () => {
  const content = randomBytes(20_000).toString('hex'); // 40,000 bytes, which are compressed to half
  const bytes = Buffer.from(content);
  const size = bytes.length;

  it.each([
    [0, 0],
    [0, size - 1],
    [size - 1, size - 1],
    [16_383, 16_384],
    [16_000, 24_000],
    [39_000, size - 1],
    [0, 28_000],
  ])(
    'from %i to %i has exactly these bytes, compressed or not, in pieces of any size',
    async (start, end) => {
      for (const encoding of ['gzip', null] as const) {
        for (const piece of [1, 1000, 1_000_000]) {
          if (piece === 1 && end - start > 20_000) continue; // takes seconds
          const object = objectOf(encoding === null ? bytes : gzipSync(bytes), { encoding, piece });
          const part = await buffer(contentRange(object, { start, end, size }));
          expect(part.equals(bytes.subarray(start, end + 1))).toBe(true);
        }
      }
    },
  );

  it('leaves the rest of the object unread', async () => {
    const long = Buffer.from(randomBytes(2_000_000).toString('hex'));
    const object = objectOf(gzipSync(long));
    // As the body of an answer does that is given up.
    object.body._destroy = (_error, done) => done(new Error('aborted'));
    const part = await buffer(contentRange(object, { start: 0, end: 10, size: long.length }));
    expect(part.equals(long.subarray(0, 11))).toBe(true);
    expect(object.body.destroyed).toBe(true);
    expect(object.body.readableEnded).toBe(false);
  });

  it('is not completed when the checksum at the end of the object is wrong, even if the checksum comes late', async () => {
    const compressed = gzipSync(bytes);
    const damaged = changed(compressed, compressed.length - 6);
    const body = new Readable({ read() {} });
    body.push(damaged.subarray(0, -8));
    const part = contentRange({ ...objectOf(bytes), body }, { start: 0, end: size - 1, size });
    const received: Buffer[] = [];
    const ended = new Promise((resolve) => part.once('error', resolve));
    part.on('data', (chunk: Buffer) => {
      received.push(chunk);
      // All bytes but a last piece can arrive before the checksum.
      if (Buffer.concat(received).length >= size - 32 * 1024) body.push(damaged.subarray(-8));
    });
    expect(await ended).toBeInstanceOf(DamagedObjectError);
    expect(Buffer.concat(received).length).toBeLessThan(size);
  });

  it.each<[string, Buffer]>([
    ['ends too early', gzipSync(bytes).subarray(0, 8000)],
    ['is shorter than its paste', gzipSync(bytes.subarray(0, -1))],
    ['is longer than its paste', gzipSync(Buffer.concat([bytes, Buffer.from('x')]))],
  ])('fails when the object %s', async (_name, object) => {
    const part = contentRange(objectOf(object), { start: 0, end: size - 1, size });
    await expect(buffer(part)).rejects.toBeInstanceOf(DamagedObjectError);
  });

  it('fails when S3 fails, or closes the connection without an error', async () => {
    for (const error of [new Error('reset'), undefined]) {
      const body = new Readable({ read() {} });
      body.push(gzipSync(bytes).subarray(0, 1000));
      const part = contentRange({ ...objectOf(bytes), body }, { start: 0, end: size - 1, size });
      const reading = buffer(part);
      body.destroy(error);
      await expect(reading).rejects.toThrow(error === undefined ? 'S3 cut the object off' : 'reset');
    }
  });

  it('closes the object when its reader goes away while S3 is silent', async () => {
    const body = new Readable({ read() {} });
    const part = contentRange({ ...objectOf(bytes), body }, { start: 0, end: size - 1, size });
    part.destroy();
    if (!body.closed) await once(body, 'close');
    expect(body.destroyed).toBe(true);
  });
});
