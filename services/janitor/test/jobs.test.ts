import { DependencyUnavailableError, jobKeyPrefix } from '@pasteflow/domain';
import { makeJobs, makePastes, type JobShape } from '@pasteflow/postgres/testing';
import { describe, expect, it } from '@jest/globals';
import { createJobs } from '../src/sweeps/jobs.ts';
import { beginMultipartUpload, deleteCalls, keysIn, openUploadsIn, putKeys } from './objects.ts';
import { withRefusedKeys } from './refusing-s3.ts';
import { useWorld, running } from './world.ts';

const world = useWorld();

const DAY = 86_400;
/**
 * Tests of several batches make smaller ones than production, because each job takes three requests to S3,
 * with 6 ms of CPU time.
 */
const BATCH = 20;
const MORE_THAN_A_BATCH = 30;
const sweep = (store = world.store, batch?: number) =>
  createJobs({ db: world.janitorDb, store, jobRetentionSeconds: 30 * DAY, logger: world.log }, batch);
const nothing = { removed: 0, refused: 0, objects: 0, aborted: 0 };

const jobs = (shape: DistributiveOmit<JobShape, 'userId'>, count = 1) =>
  makeJobs(world.db, count, { ...shape, userId: world.userId });
const ended = (days: number, count = 1, status: 'completed' | 'partial' | 'failed' = 'completed') =>
  jobs({ status, createdSecondsAgo: 40 * DAY, completedSecondsAgo: days * DAY }, count);
const left = async () =>
  (await world.db.selectFrom('jobs').select('id').orderBy('id').execute()).map(({ id }) => id);
const fileOf = ({ id }: { id: string }) => `${jobKeyPrefix(id)}a.zip`;
const idsOf = (made: readonly { id: string }[]) => made.map(({ id }) => id).toSorted();

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

describe('jobs', () => {
  it('removes only jobs that ended more than 30 days ago, with their objects, assets and executions', async () => {
    const old = [...(await ended(31)), ...(await ended(31, 1, 'partial')), ...(await ended(31, 1, 'failed'))];
    const young = await ended(29);
    const open = [
      ...(await jobs({ status: 'queued', createdSecondsAgo: 40 * DAY })),
      ...(await jobs({ status: 'processing', createdSecondsAgo: 40 * DAY, assets: 1 })),
    ];
    const [paste] = await makePastes(world.db, 1, { status: 'PROCESSED' });
    const kept = [...young, ...open].map(({ id }) => `${jobKeyPrefix(id)}a.zip`);
    const gone = old.flatMap(({ id }) => [`${jobKeyPrefix(id)}a.zip`, `${jobKeyPrefix(id)}deep/b.zip`]);
    await putKeys(world.store, [...kept, ...gone, `pastes/${paste!.shortCode}`]);
    await beginMultipartUpload(world, `${jobKeyPrefix(old[0]!.id)}left.zip`);
    await beginMultipartUpload(world, `${jobKeyPrefix(open[1]!.id)}running.zip`);
    expect(await sweep().runOnce(running())).toEqual({ removed: 3, refused: 0, objects: 6, aborted: 1 });
    expect(await left()).toEqual(idsOf([...young, ...open]));
    expect(await keysIn(world.store)).toEqual([...kept, `pastes/${paste!.shortCode}`].toSorted());
    expect(await openUploadsIn(world.store)).toEqual([`${jobKeyPrefix(open[1]!.id)}running.zip`]);
    const executions = await world.db.selectFrom('task_executions').select('subject_id').execute();
    expect(executions.map(({ subject_id }) => subject_id).toSorted()).toEqual(
      idsOf([...young, ...open, paste!]),
    );
    const assets = await world.db.selectFrom('assets').select('job_id').execute();
    expect(idsOf(assets.map(({ job_id }) => ({ id: job_id })))).toEqual(idsOf([young[0]!, open[1]!]));
    expect(await sweep().runOnce(running())).toEqual(nothing);
  });

  it('removes more than one batch in a run', async () => {
    await ended(31, MORE_THAN_A_BATCH);
    expect(await sweep(world.store, BATCH).runOnce(running())).toEqual({
      ...nothing,
      removed: MORE_THAN_A_BATCH,
    });
    expect(await left()).toEqual([]);
    expect(deleteCalls(world)).toEqual([]);
  });

  it('removes no row while S3 is down', async () => {
    await ended(31, 20);
    world.proxy.rule({}, { kind: 'fail', status: 503 });
    await expect(sweep().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    expect(await left()).toHaveLength(20);
  });

  it('removes only the rows whose folders it has emptied when S3 fails in the middle of a run', async () => {
    const made = await ended(31, 30);
    await putKeys(world.store, made.map(fileOf));
    world.proxy.rule({}, { kind: 'fail', status: 503 });
    world.proxy.rule({}, { kind: 'pass' }, 45); // three requests a folder, eight folders at a time
    await expect(sweep().runOnce(running())).rejects.toThrow(DependencyUnavailableError);
    world.proxy.clear();
    const rows = await left();
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThan(30);
    const keys = await keysIn(world.store);
    for (const { id } of made) if (!rows.includes(id)) expect(keys).not.toContain(fileOf({ id }));
  });

  it.each([
    ['list', (id: string) => new RegExp(`(?=.*list-type=2).*${id}`)],
    ['multipart uploads', (id: string) => new RegExp(`(?=.*uploads).*${id}`)],
  ])(
    'keeps the jobs for the next run whose %s requests S3 always fails, and removes the others',
    async (_, path) => {
      const made = await ended(31, MORE_THAN_A_BATCH);
      const broken = [made[0]!, made[1]!, made.at(-1)!];
      for (const { id } of broken) world.proxy.rule({ path: path(id) }, { kind: 'fail', status: 500 });
      expect(await sweep(world.store, BATCH).runOnce(running())).toEqual({
        ...nothing,
        removed: MORE_THAN_A_BATCH - 3,
        refused: 3,
      });
      expect(await left()).toEqual(idsOf(broken));
      expect(world.log.lines).toMatchObject(
        [2, 1].map((count) => ({
          level: 'warn',
          message: 'objects of old jobs not deleted',
          fields: { count, reason: expect.stringContaining('500') },
        })),
      );
      world.proxy.clear();
      expect(await sweep().runOnce(running())).toEqual({ ...nothing, removed: 3 });
    },
  );

  it('keeps a job for the next run when S3 refuses to delete an object, and removes the other jobs', async () => {
    const [refused, ...others] = await ended(31, MORE_THAN_A_BATCH);
    const keys = ['a.zip', 'b.zip'].map((name) => `${jobKeyPrefix(refused!.id)}${name}`);
    await putKeys(world.store, keys);
    await withRefusedKeys(world.store, [keys[1]!], async (store) => {
      const { store: real } = world;
      Object.assign(store, {
        list: (prefix: string) => real.list(prefix),
        listMultipartUploads: (prefix: string) => real.listMultipartUploads(prefix),
      });
      expect(await sweep(store, BATCH).runOnce(running())).toEqual({
        ...nothing,
        removed: others.length,
        refused: 1,
        objects: 1,
      });
    });
    expect(world.log.lines).toMatchObject([
      { level: 'warn', message: 'objects of old jobs not deleted', fields: { count: 1 } },
    ]);
    expect(await left()).toEqual([refused!.id]);
    expect(await sweep().runOnce(running())).toEqual({ ...nothing, removed: 1, objects: 1 });
  });

  it('removes a row only after its folder is empty, also when aborted in the middle of a run', async () => {
    const made = await ended(31, 30);
    await putKeys(
      world.store,
      made.map(({ id }) => `${jobKeyPrefix(id)}a.zip`),
    );
    const stop = new AbortController();
    const held = world.proxy.hold({ method: 'POST', path: /\?delete/ });
    const run = sweep().runOnce(stop.signal);
    const request = await held;
    stop.abort();
    await request.forward();
    const { removed } = await run;
    expect(removed).toBeGreaterThan(0);
    expect(removed).toBeLessThan(30);
    expect(await left()).toHaveLength(30 - (removed ?? 0));
    expect(await keysIn(world.store)).toEqual((await left()).map((id) => `${jobKeyPrefix(id)}a.zip`));
  });
});
