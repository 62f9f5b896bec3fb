import { beforeAll, describe, expect, it } from '@jest/globals';
import { defineJobType, type JobType } from '@pasteflow/jobs';
import { z } from 'zod';
import { completed, jobType, useBench } from '../support/bench.ts';

const bench = useBench();
const types = new Map<string, JobType>();
const given = (name: string, run: JobType['run']) => types.set(name, jobType(name, run));

beforeAll(async () => {
  await bench.startForAll(types, { env: { JOB_RETRY_DELAYS_MS: '10,10', JOB_RETRY_JITTER_MS: '0' } });
});

const assetsOf = (jobId: string) =>
  bench.db.selectFrom('assets').selectAll().where('job_id', '=', jobId).execute();

describe('a job', () => {
  it('owns the assets that it makes while it runs (J5)', async () => {
    given('archive', async ({ jobId, createAsset }) => {
      await createAsset({
        assetType: 'archive',
        storagePath: `jobs/${jobId}/a.zip`,
        fileSize: 5_000_000_000,
      });
      return completed;
    });
    const id = await bench.submit('archive');
    await bench.ended(id);
    expect(await assetsOf(id)).toMatchObject([
      {
        user_id: bench.userId,
        asset_type: 'archive',
        url: `s3://pasteflow/jobs/${id}/a.zip`,
        storage_path: `jobs/${id}/a.zip`,
        file_size: '5000000000',
      },
    ]);
  });

  it('is partial when some of its work failed, and says which (J6)', async () => {
    given('half', async ({ createAsset }) => {
      await createAsset({ assetType: 'paste', storagePath: 'pastes/abc', fileSize: 1 });
      return { status: 'partial', result: { failed: [2] }, error: '1 of 2 entries failed' };
    });
    const id = await bench.submit('half');
    expect(await bench.ended(id)).toMatchObject({
      status: 'partial',
      progress: 100,
      result: { failed: [2] },
      error_message: '1 of 2 entries failed',
    });
    expect(await bench.attempts(id)).toEqual([[1, 'SUCCEEDED', null]]);
  });

  it('that can not be done is failed at once, without another attempt', async () => {
    given('vain', () =>
      Promise.resolve({ status: 'failed', result: { entries: 0 }, error: 'the archive is empty' }),
    );
    const id = await bench.submit('vain');
    expect(await bench.ended(id)).toMatchObject({
      status: 'failed',
      result: { entries: 0 },
      error_message: 'the archive is empty',
    });
    expect(await bench.attempts(id)).toEqual([[1, 'FAILED', 'work failed: the archive is empty']]);
  });

  it('of a type that this version does not have is failed, and says so', async () => {
    const id = await bench.submit('transmute');
    expect(await bench.ended(id)).toMatchObject({
      status: 'failed',
      error_message: "This version has no job type 'transmute'.",
    });
    expect(await bench.attempts(id)).toHaveLength(1);
  });

  it('has its stored parameters read by the present schema: defaults are filled in, and what is wrong now fails it', async () => {
    const parameters = z.strictObject({ format: z.enum(['zip', 'tar.gz']).default('zip') });
    const type = defineJobType({
      name: 'pack',
      summary: 'Made for a test.',
      parameters,
      example: {},
      run: (context) => Promise.resolve({ status: 'completed', result: context.parameters }),
    });
    types.set(type.name, type);
    const old = await bench.submit('pack', {});
    const wrong = await bench.submit('pack', { format: 'rar' });
    expect(await bench.ended(old)).toMatchObject({ status: 'completed', result: { format: 'zip' } });
    const failed = await bench.ended(wrong);
    expect(failed.status).toBe('failed');
    expect(failed.error_message).toMatch(/^The parameters are not valid in this version: format: /);
  });

  it('whose last attempt failed is failed, or partial when there are assets, and says why and what was made (J6)', async () => {
    given('broken', async ({ parameters, createAsset }) => {
      if ((parameters as { makes?: boolean }).makes === true)
        await createAsset({ assetType: 'paste', storagePath: 'pastes/abc', fileSize: 1 });
      throw new Error('no luck');
    });
    const nothing = await bench.submit('broken');
    const something = await bench.submit('broken', { makes: true });
    const error_message = 'internal: 3 attempts failed; the last: no luck';
    expect(await bench.ended(nothing)).toMatchObject({ status: 'failed', result: null, error_message });
    expect(await bench.ended(something)).toMatchObject({
      status: 'partial',
      result: { assets: 3 },
      error_message,
    });
    expect((await bench.attempts(nothing)).map(([attempt]) => attempt)).toEqual([1, 2, 3]);
    await bench.acknowledged();
  });
});
