import { describe, expect, it, jest } from '@jest/globals';
import { makePastes } from '@pasteflow/postgres/testing';
import { ObjectTooLargeError } from '@pasteflow/s3';
import { hasMoreThan } from '../src/types/export/select-pastes.ts';
import { errorOf, newUser, run } from './support/attempts.ts';
import { useWorld } from './support/world.ts';

const world = useWorld();
const { signal } = new AbortController();

describe('the limit of a zip export', () => {
  it('counts only pastes that it would contain', async () => {
    const userId = await newUser(world);
    const filter = { userId, createdAfter: null, createdBefore: null, status: null };
    const hasMoreThanThree = () => hasMoreThan(3, world.db, filter, signal);
    await makePastes(world.db, 3, { status: 'PROCESSED', userId });
    await makePastes(world.db, 3, { status: 'FAILED', userId });
    await makePastes(world.db, 3, { status: 'PROCESSED', userId, expiresInSeconds: -5 });
    expect(await hasMoreThanThree()).toBe(false);
    await makePastes(world.db, 1, { status: 'IN_PROGRESS', userId });
    expect(await hasMoreThanThree()).toBe(true);
  });
});

it('an archive that is too large for S3 fails its job at the first attempt, and suggests alternatives', async () => {
  const userId = await newUser(world);
  jest.spyOn(world.store, 'putStream').mockImplementationOnce(async (_, body) => {
    body.destroy();
    throw new ObjectTooLargeError(280_000 * 1024 * 1024);
  });
  const { ending } = await run(world, 'export', { format: 'tar.gz' }, { userId });
  expect(ending.status).toBe('failed');
  expect(errorOf(ending)).toBe(
    'An archive can have at most 273 GiB. Export less at a time with created_after and created_before.',
  );
});
