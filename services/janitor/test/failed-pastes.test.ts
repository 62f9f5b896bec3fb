import { DependencyUnavailableError, objectKeyOf } from '@pasteflow/domain';
import { makePastes, type MadePaste } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { createFailedPastes } from '../src/sweeps/old-rows.ts';
import { withRefusingS3 } from './refusing-s3.ts';
import { deleteCalls, keysIn, putObjects } from './objects.ts';
import { useWorld, running } from './world.ts';

const world = useWorld();

const DAY = 86_400;
const sweep = (store = world.store) =>
  createFailedPastes({ db: world.janitorDb, store, failedRetentionSeconds: DAY, logger: world.log });
const failed = (count: number, createdSecondsAgo: number) =>
  makePastes(world.db, count, { status: 'FAILED', createdSecondsAgo });
const codes = (pastes: readonly MadePaste[]) => pastes.map(({ shortCode }) => shortCode);
const left = async () =>
  (await world.db.selectFrom('pastes').select('short_code').execute()).map((row) => row.short_code);

describe('failed-pastes', () => {
  it('removes failed pastes that are older than 24 hours, with their executions and the object of a put that seemed to fail', async () => {
    const old = await failed(2, DAY + 1);
    const [young] = await failed(1, DAY - 60);
    const [stored] = await makePastes(world.db, 1, { status: 'PROCESSED', createdSecondsAgo: 2 * DAY });
    await putObjects(world.store, codes([...old, stored as MadePaste]));
    expect(await sweep().runOnce(running())).toEqual({ removed: 2, refused: 0 });
    expect((await left()).sort()).toEqual(codes([young as MadePaste, stored as MadePaste]).sort());
    expect(await keysIn(world.store)).toEqual([objectKeyOf(stored?.shortCode ?? '')]);
    expect(await world.db.selectFrom('task_executions').select('id').execute()).toHaveLength(2);
  });

  it('removes more than a batch in one run, with at most 1000 keys in a call', async () => {
    await failed(2100, DAY + 5);
    expect(await sweep().runOnce(running())).toEqual({ removed: 2100, refused: 0 });
    expect(deleteCalls(world).map((keys) => keys.length)).toEqual([1000, 1000, 100]);
    expect(await left()).toEqual([]);
  });

  it('removes no row while S3 is down', async () => {
    await failed(1, DAY + 1);
    world.proxy.rule({}, { kind: 'fail', status: 503 });
    await expect(sweep().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(await left()).toHaveLength(1);
  });

  it('keeps the rows whose objects S3 refuses to delete, continues after a thousand of them, and ends', async () => {
    const refused = await failed(1000, 2 * DAY);
    await failed(10, DAY + 1);
    await withRefusingS3(world.store, codes(refused), async (store) => {
      expect(await sweep(store).runOnce(running())).toEqual({ removed: 10, refused: 1000 });
    });
    expect((await left()).sort()).toEqual(codes(refused).sort());
  });
});
