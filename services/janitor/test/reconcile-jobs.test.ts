import { jobKeyPrefix } from '@pasteflow/domain';
import { makeJobs } from '@pasteflow/postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Reconcile } from '../src/sweeps/reconcile.ts';
import { beginMultipartUpload, keysIn, openUploadsIn, putKeys } from './objects.ts';
import { withRefusedKeys } from './refusing-s3.ts';
import { createWorld, running, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.reset());

const sweep = (minAgeSeconds = 0, store = world.store) =>
  new Reconcile({ db: world.db, store, minAgeSeconds, logger: world.log });
const nothing = { listed: 0, removed: 0, refused: 0, foreign: 0, missing: 0, aborted: 0 };
const GONE = '0190b8a0-1234-7000-8000-0123456789ab';

const fileOf = (jobId: string, name = 'a.zip') => `${jobKeyPrefix(jobId)}${name}`;

async function oneJob(status: 'queued' | 'processing' | 'completed' | 'failed'): Promise<string> {
  const [job] = await makeJobs(world.db, 1, { status, userId: world.userId });
  return job!.id;
}

describe('reconcile, of jobs', () => {
  it('removes the objects of jobs that have no row, and keeps those of every other', async () => {
    const kept = [
      fileOf(await oneJob('processing')),
      fileOf(await oneJob('completed')),
      fileOf(await oneJob('failed')),
    ];
    const orphans = [fileOf(GONE), fileOf(GONE, 'deep/b.zip')];
    await putKeys(world.store, [...kept, ...orphans]);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 5, removed: 2 });
    expect(await keysIn(world.store)).toEqual(kept.toSorted());
    expect(world.log.lines).toMatchObject([
      {
        level: 'warn',
        message: 'objects of jobs that are gone were deleted',
        fields: { count: 2, keys: orphans },
      },
    ]);
  });

  it('aborts multipart uploads of jobs that have ended or are gone, not of one that may be at work', async () => {
    const working = fileOf(await oneJob('processing'));
    for (const key of [working, fileOf(await oneJob('completed')), fileOf(GONE), fileOf(GONE, 'b.zip')])
      await beginMultipartUpload(world, key);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, aborted: 3 });
    expect(await openUploadsIn(world.store)).toEqual([working]);
  });

  it('leaves both alone that are younger than the minimum age', async () => {
    await putKeys(world.store, [fileOf(GONE)]);
    await beginMultipartUpload(world, fileOf(GONE));
    expect(await sweep(3600).runOnce(running())).toEqual({ ...nothing, listed: 1 });
    expect([await keysIn(world.store), await openUploadsIn(world.store)]).toEqual([
      [fileOf(GONE)],
      [fileOf(GONE)],
    ]);
  });

  it("leaves alone what is no job's, counts and names it", async () => {
    const keys = ['jobs/not-an-id/a.zip', 'jobs/readme'];
    await putKeys(world.store, keys);
    await beginMultipartUpload(world, keys[0]!);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 2, foreign: 2 });
    expect([await keysIn(world.store), await openUploadsIn(world.store)]).toEqual([keys, [keys[0]]]);
    expect(world.log.lines).toMatchObject([{ level: 'warn', fields: { keys } }]);
  });

  it('counts what S3 refuses to delete', async () => {
    await putKeys(world.store, [fileOf(GONE), fileOf(GONE, 'b.zip')]);
    await withRefusedKeys(world.store, [fileOf(GONE)], async (refusing) => {
      const { store: real } = world;
      const store = Object.assign(refusing, {
        list: (prefix: string) => real.list(prefix),
        listMultipartUploads: (prefix: string) => real.listMultipartUploads(prefix),
      });
      expect(await sweep(0, store).runOnce(running())).toEqual({
        ...nothing,
        listed: 2,
        removed: 1,
        refused: 1,
      });
    });
  });

  it('ends when it is told to', async () => {
    await putKeys(world.store, [fileOf(GONE)]);
    await beginMultipartUpload(world, fileOf(GONE));
    expect(await sweep().runOnce(AbortSignal.abort())).toEqual(nothing);
    expect(await keysIn(world.store)).toHaveLength(1);
    expect(await openUploadsIn(world.store)).toHaveLength(1);
  });
});
