import { describe, expect, it } from '@jest/globals';
import {
  countStops,
  createAsset,
  createJob,
  findOlderArchives,
  listAssets,
  readExport,
  removeArchives,
  type ClaimedJob,
} from '../../src/index.ts';
import { makeJobs, makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';
import { claimJob, makeDue, newAsset, reap, runningJob, settle, settlementOf } from '../support/jobs.ts';

const current = useDatabase();
const all = { limit: 100, after: null };

describe('assets', () => {
  it('that are archives are numbered without a gap, across attempts, and no number is used twice', async () => {
    const first = await runningJob(current.db);
    const archive = (job: ClaimedJob, number: number) =>
      createAsset(current.db, {
        executionId: job.executionId,
        asset: { ...newAsset(job), archive: { number, checkpoint: { after: number } } },
      });
    const refused = { code: 'execution_taken' };
    await expect(archive(first, 2)).rejects.toMatchObject(refused);
    await archive(first, 1);
    await expect(archive(first, 1)).rejects.toMatchObject(refused);
    await reap(current.db, first);
    const second = await claimJob(current.db, first.jobId, 'w2');
    await expect(archive(first, 2)).rejects.toMatchObject(refused);
    await archive(second, 2);
    expect(await readExport(current.db, first.jobId)).toMatchObject({
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/),
      archives: [
        { number: 1, bytes: 10, checkpoint: { after: 1 } },
        { number: 2, bytes: 10, checkpoint: { after: 2 } },
      ],
    });
    const { rows } = await listAssets(current.db, first.jobId, all);
    expect(rows.map(({ number }) => number)).toEqual([2, 1]);
    expect(rows[0]).not.toHaveProperty('checkpoint');
  });

  it('end the count of the stops of a job, which is in the rows', async () => {
    let job = await runningJob(current.db);
    const stop = async (): Promise<number> => {
      await settle(current.db, settlementOf(job, { kind: 'interrupted' }));
      job = await claimJob(current.db, job.jobId);
      return await countStops(current.db, job.jobId);
    };
    expect([await stop(), await stop()]).toEqual([1, 2]);
    await reap(current.db, job); // a loss is no stop
    await makeDue(current.db);
    job = await claimJob(current.db, job.jobId);
    expect(await countStops(current.db, job.jobId)).toBe(2);
    await createAsset(current.db, { executionId: job.executionId, asset: newAsset(job) });
    expect(await countStops(current.db, job.jobId)).toBe(0);
    expect(await stop()).toBe(1);
  });

  it('of older exports are found and removed, and those of no open job and of no other user', async () => {
    const [user, other] = await makeUsers(current.db, 2);
    const exportOf = async (userId: string, seconds: number): Promise<string> => {
      const [made] = await makeJobs(current.db, 1, {
        userId,
        jobType: 'export',
        status: 'completed',
        completedSecondsAgo: seconds,
        assets: 2,
      });
      return made!.id;
    };
    const [oldest, older] = [await exportOf(user!.id, 40), await exportOf(user!.id, 30)];
    await exportOf(user!.id, 20);
    await exportOf(other!.id, 50);
    const { id: jobId } = await createJob(current.db, {
      userId: user!.id,
      jobType: 'export',
      parameters: {},
    });
    const job = await claimJob(current.db, jobId);
    await createAsset(current.db, { executionId: job.executionId, asset: newAsset(job) });
    const find = (kept: number) => findOlderArchives(current.db, { userId: user!.id, kept, limit: 10 });
    const found = await find(1);
    expect(new Set(found.map((archive) => archive.jobId))).toEqual(new Set([oldest, older]));
    expect(found).toHaveLength(4);
    const fenced = { executionId: oldest, jobId, archives: found };
    expect(await removeArchives(current.db, fenced)).toBe(0);
    expect(await find(1)).toHaveLength(4);
    const mine = { jobId, storagePath: newAsset(job).storagePath };
    await removeArchives(current.db, { ...fenced, executionId: job.executionId, archives: [...found, mine] });
    expect(await find(1)).toEqual([]);
    expect(await current.db.selectFrom('assets').select('id').execute()).toHaveLength(5);
  });
});
