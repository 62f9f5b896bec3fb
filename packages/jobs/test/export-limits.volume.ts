import { describe, expect, it } from '@jest/globals';
import { makePastes } from '@pasteflow/postgres/testing';
import { newUser, run } from './support/attempts.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();

describe('a zip export of more pastes than its limit', () => {
  it('fails before anything is read or stored, and suggests alternatives', async () => {
    const userId = await newUser(world);
    await makePastes(world.db, 50_001, { status: 'PROCESSED', userId });
    const { ending } = await run(world, 'export', { format: 'zip' }, { userId });
    expect(ending).toEqual({
      status: 'failed',
      result: {},
      error:
        'A zip export can contain at most 50000 pastes. Export as tar.gz or ndjson, or export less at a time with created_after and created_before.',
    });
    expect(world.proxy.matching({ path: /\/pastes\// })).toEqual([]);
    expect(world.proxy.matching({ method: 'PUT' })).toEqual([]);
    expect(world.proxy.matching({ method: 'POST' })).toEqual([]);
  });
});
