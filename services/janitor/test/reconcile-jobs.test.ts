import { jobKeyPrefix } from '@pasteflow/domain';
import { makeJobs, type JobShape } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { newReconcile, nothingReconciled as nothing } from './new-reconcile.ts';
import { beginMultipartUpload, keysIn, openUploadsIn, putKeys } from './objects.ts';
import { withRefusedKeys } from './refusing-s3.ts';
import { useWorld, running } from './world.ts';

const world = useWorld();

const DAY = 86_400;
const sweep = (minAgeSeconds = 0, store = world.store) =>
  newReconcile(world, { store, reconcileMinAgeSeconds: minAgeSeconds, jobRetentionSeconds: 30 * DAY });
const GONE = '0190b8a0-1234-7000-8000-0123456789ab';

const fileOf = (jobId: string, name = 'a.zip') => `${jobKeyPrefix(jobId)}${name}`;

/** The first asset of a job that makeJobs made. */
const assetOf = (jobId: string) => fileOf(jobId, 'made-1');

async function oneJob(
  status: 'queued' | 'processing' | 'completed' | 'partial' | 'failed',
  completedSecondsAgo = 0,
): Promise<string> {
  const ended = status === 'queued' || status === 'processing' ? {} : { completedSecondsAgo };
  const shape = { status, userId: world.userId, createdSecondsAgo: 40 * DAY, ...ended } as JobShape;
  const [job] = await makeJobs(world.db, 1, shape);
  return job!.id;
}

describe('reconcile for jobs', () => {
  it('removes objects without an asset when their job has ended or has no row, and keeps every other object', async () => {
    const ended = [await oneJob('completed'), await oneJob('partial')];
    const kept = [
      ...ended.map(assetOf),
      fileOf(await oneJob('queued')),
      fileOf(await oneJob('processing'), 'deep/b.zip'), // an asset may follow
    ];
    const strays = [
      fileOf(ended[0]!), // beside the asset: left by a lost attempt
      fileOf(await oneJob('failed')), // the worker of the last attempt was killed between object and asset
      fileOf(GONE),
      fileOf(GONE, 'deep/b.zip'),
      fileOf(GONE, ended[1]),
    ];
    await putKeys(world.store, [...kept, ...strays]);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 9, orphans: 5, removed: 5 });
    expect(await keysIn(world.store)).toEqual(kept.toSorted());
    expect(world.log.lines).toMatchObject([
      {
        level: 'warn',
        message: 'objects without a live row deleted',
        fields: { count: 5, keys: strays.toSorted() },
      },
    ]);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 4 });
  });

  it('reports assets without an object at any position in the listing, and changes nothing', async () => {
    const jobs = [];
    for (let n = 0; n < 5; n++) jobs.push(await oneJob(n === 2 ? 'partial' : 'completed'));
    const keys = jobs.map(assetOf);
    const present = [keys[1]!, keys[3]!];
    await putKeys(world.store, present);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, listed: 2, missing: 3 });
    expect(world.log.lines).toMatchObject([
      { level: 'error', message: 'assets without an object', fields: { keys: [keys[0], keys[2], keys[4]] } },
    ]);
    expect(await keysIn(world.store)).toEqual(present);
  });

  it('does not report assets that are pastes, that the jobs sweep may be removing, or that were made during the run', async () => {
    await oneJob('completed', 31 * DAY);
    const imported = await oneJob('processing');
    const young = await oneJob('processing');
    const asset = { user_id: world.userId, asset_type: 'x', url: 's3://b/k', file_size: 1 };
    await world.db
      .insertInto('assets')
      .values([
        { ...asset, job_id: imported, storage_path: 'pastes/abc', position: 0 },
        { ...asset, job_id: imported, storage_path: 'pastes/def', position: null },
        {
          ...asset,
          job_id: young,
          storage_path: fileOf(young),
          position: null,
          created_at: sql`now() + interval '1 hour'`,
        },
      ])
      .execute();
    expect(await sweep().runOnce(running())).toEqual(nothing);
  });

  it('aborts multipart uploads of jobs that have ended or have no row, not those of an open job', async () => {
    const working = fileOf(await oneJob('processing'));
    for (const key of [working, fileOf(await oneJob('failed')), fileOf(GONE), fileOf(GONE, 'b.zip')])
      await beginMultipartUpload(world, key);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, aborted: 3 });
    expect(await openUploadsIn(world.store)).toEqual([working]);
  });

  it('leaves objects and uploads that are younger than the minimum age', async () => {
    const failed = fileOf(await oneJob('failed'));
    await putKeys(world.store, [fileOf(GONE), failed]);
    await beginMultipartUpload(world, fileOf(GONE));
    expect(await sweep(3600).runOnce(running())).toEqual({ ...nothing, listed: 2 });
    expect([await keysIn(world.store), await openUploadsIn(world.store)]).toEqual([
      [fileOf(GONE), failed].toSorted(),
      [fileOf(GONE)],
    ]);
  });

  it('counts and logs keys that belong to no job, and leaves them alone', async () => {
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
        orphans: 2,
        removed: 1,
        refused: 1,
      });
    });
  });

  it('ends when its signal is aborted', async () => {
    await putKeys(world.store, [fileOf(GONE)]);
    await beginMultipartUpload(world, fileOf(GONE));
    expect(await sweep().runOnce(AbortSignal.abort())).toEqual(nothing);
    expect(await keysIn(world.store)).toHaveLength(1);
    expect(await openUploadsIn(world.store)).toHaveLength(1);
  });
});
