import { expect, it } from '@jest/globals';
import { describeManyHeaders } from './support/many-headers.ts';
import { namesIn } from './support/names-in.ts';
import { blocksOf } from './support/tar.ts';

const BLOCK = 512;
const MIB = 1024 * 1024;

describeManyHeaders({ types: ['g', 'x', 'L', 'K'], entries: 10_000 });

it('many empty extension headers of a tar are refused', async () => {
  const [header] = blocksOf({ name: 'empty', type: 'x' }) as [Buffer];
  await expect(namesIn('tar', Buffer.alloc(64 * MIB + BLOCK, header))).rejects.toThrow(
    'it has more than 64 MiB of headers for its entries',
  );
});
