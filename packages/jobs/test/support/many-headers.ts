import { describe, expect, it } from '@jest/globals';
import { namesIn } from './names-in.ts';
import { blocksOf, paxRecords, tarOf } from './tar.ts';

const BLOCK = 512;
const KIB = 1024;
const MIB = 1024 * KIB;

const tooMany = 'it has more than 64 MiB of headers for its entries';
const pax = (records: Record<string, string>, type = 'x') => ({
  name: 'pax',
  type,
  content: paxRecords(records),
});
const long = { name: '././@LongLink', type: 'L', content: 'name\0' };
const linkname = { name: '././@LongLink', type: 'K', content: 'name\0' };

interface ManyHeaders {
  /** The types of headers that are repeated up to the limit, and beyond it. */
  readonly types: readonly ('g' | 'x' | 'L' | 'K')[];
  /** The number of entries that have four headers each. */
  readonly entries: number;
}

/** Reads tars with as many extension headers as are allowed, and with more. */
export function describeManyHeaders({ types, entries }: ManyHeaders): void {
  describe('many extension headers of a tar', () => {
    it.each(types)('are refused: %s', async (type) => {
      const content = paxRecords({ comment: 'x'.repeat(256 * KIB - 20) });
      const header = Buffer.concat(blocksOf({ name: 'long', type, content }));
      const enough = Math.floor((64 * MIB) / (BLOCK + content.length));
      const source = (count: number): Buffer =>
        Buffer.concat([Buffer.alloc(count * header.length, header), tarOf([{ name: 'file' }])]);
      expect(await namesIn('tar', source(enough))).toHaveLength(1);
      await expect(namesIn('tar', source(enough + 1))).rejects.toThrow(tooMany);
    });

    it(`may be four for each of ${entries} entries`, async () => {
      const source = tarOf(
        Array.from({ length: entries }, (_, n) => [
          pax({ comment: 'x' }, 'g'),
          pax({ path: `${n}` }),
          long,
          linkname,
          { name: 'file' },
        ]).flat(),
      );
      expect(await namesIn('tar', source)).toEqual(Array.from({ length: entries }, (_, n) => `${n}`));
    });
  });
}
