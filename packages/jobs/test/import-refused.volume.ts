import { describe, expect, it } from '@jest/globals';
import { gunzipInPieces } from '../src/types/import/byte-source.ts';
import { gzipBomb, paddingBomb } from './support/bombs.ts';
import { importRefusal, REFUSED_WITHIN_MS } from './support/import-refusal.ts';
import { tarGzOf } from './support/tar.ts';
import { useWorld } from './support/world.ts';
import { zipOf } from './support/zip.ts';

const world = useWorld();
const refusalOf = (source: Buffer) => importRefusal(world, source);
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `${n}`, content: 'x', method: 0 }));

describe('an archive with a hundred thousand entries', () => {
  it.each<[string, () => Buffer]>([
    ['a tar.gz', () => tarGzOf(many(100_000))],
    ['a zip that counts modulo 65,536', () => zipOf(many(100_000))],
  ])('is refused: %s', async (_, make) => {
    const source = make();
    const began = performance.now();
    expect(await refusalOf(source)).toBe('it has more than 10000 entries');
    expect(performance.now() - began).toBeLessThan(REFUSED_WITHIN_MS);
  });
});

describe('a bomb', () => {
  it.each<[string, () => Buffer, string]>([
    ['a tar.gz of 10 GiB', () => gzipBomb(160), 'it inflates to more than 512 MiB'],
    [
      'a tar.gz with 128 MiB behind its end',
      () => paddingBomb(2),
      'it inflates to more than 200 times its size',
    ],
  ])('is refused: %s', async (_, make, reason) => {
    const source = make();
    const began = performance.now();
    expect(await refusalOf(source)).toBe(reason);
    expect(performance.now() - began).toBeLessThan(REFUSED_WITHIN_MS);
  });
});

it('the inflated bytes of a gzip are counted, whatever its headers state', async () => {
  let inflated = 0;
  const reading = (async () => {
    for await (const piece of gunzipInPieces(paddingBomb(160))) inflated += piece.length;
  })();
  await expect(reading).rejects.toThrow('it inflates to more than 512 MiB');
  expect(inflated).toBeLessThanOrEqual(512 * 1024 * 1024);
});
