import { beforeAll, describe, expect, it } from '@jest/globals';
import { jobKeyPrefix, objectKeyOf } from '@pasteflow/domain';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { addAsset, claim, newJob } from './support/jobs.ts';
import { processedPaste, sha256 } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

interface Asset {
  readonly id: string;
  readonly url: string;
  readonly asset_type: string;
  readonly file_size: number;
  readonly created_at: string;
}

interface Page {
  readonly assets: readonly Asset[];
  readonly next_cursor: string | null;
}

const bed = useApi();
let user: TestUser;

beforeAll(async () => {
  user = await newUser(bed.db);
});

const get = (jobId: string, query = '', url = bed.api.url) =>
  fetch(`${url}/v1/jobs/${jobId}/assets${query}`, { headers: user.headers });

async function page(jobId: string, query = '', url = bed.api.url): Promise<Page> {
  const response = await get(jobId, query, url);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

async function running(jobType: string): Promise<{ user: TestUser; jobId: string; executionId: string }> {
  const jobId = await newJob(bed.db, user, jobType);
  return { user, jobId, executionId: await claim(bed.db, jobId) };
}

/** Puts an object where a job would, and inserts its asset. */
async function addArchive(
  job: { user: TestUser; jobId: string; executionId: string },
  content: string,
  ending: string,
): Promise<void> {
  const storagePath = `${jobKeyPrefix(job.jobId)}${job.executionId}${ending}`;
  await bed.store.put(storagePath, Buffer.from(content), { sha256: sha256(content) });
  await addAsset(bed.db, job, { assetType: 'archive', storagePath, fileSize: content.length });
}

describe('GET /v1/jobs/:id/assets', () => {
  it('shows a paste by the URL at which the api serves it', async () => {
    const code = await processedPaste(bed, 'imported');
    const job = await running('import');
    await addAsset(bed.db, job, { assetType: 'paste', storagePath: objectKeyOf(code), fileSize: 8 });
    const { assets, next_cursor } = await page(job.jobId);
    expect({ assets, next_cursor }).toEqual({
      assets: [
        {
          id: expect.stringMatching(/^[\da-f-]{36}$/),
          url: `${bed.api.url}/${code}`,
          asset_type: 'paste',
          file_size: 8,
          created_at: expect.stringMatching(/Z$/),
        },
      ],
      next_cursor: null,
    });
    expect(await (await fetch(assets[0]!.url)).text()).toBe('imported');
  });

  it.each(['.zip', '.tar.gz', '.ndjson', ''])(
    'shows an archive by a URL of S3, which needs no token and downloads under a name: %s',
    async (ending) => {
      const job = await running('export');
      await addArchive(job, 'the archive', ending);
      const { assets } = await page(job.jobId);
      const { url, created_at, file_size } = assets[0]!;
      expect(url.startsWith(bed.stack.aws.endpoint)).toBe(true);
      expect(file_size).toBe(11);
      const download = await fetch(url);
      const name = `pasteflow-export-${created_at.slice(0, 10)}${ending}`;
      expect(download.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
      expect([download.status, await download.text()]).toEqual([200, 'the archive']);
      expect(url).toContain('X-Amz-Expires=900');
    },
  );

  it('signs a new URL at each read, valid for ASSET_URL_SECONDS', async () => {
    const job = await running('export');
    await addArchive(job, 'x', '.zip');
    const { url } = await bed.start({ env: { ASSET_URL_SECONDS: '60' } });
    const [first] = (await page(job.jobId, '', url)).assets;
    expect(first!.url).toContain('X-Amz-Expires=60');
    expect(new URL(first!.url).searchParams.get('X-Amz-Signature')).toMatch(/^[\da-f]{64}$/);
    const row = await bed.db
      .selectFrom('assets')
      .select('url')
      .where('job_id', '=', job.jobId)
      .executeTakeFirstOrThrow();
    expect(row.url).toBe(`s3://pasteflow/${jobKeyPrefix(job.jobId)}${job.executionId}.zip`);
  });

  it('runs three statements, including the token’s, for any number of assets', async () => {
    const job = await running('import');
    for (let i = 0; i < 5; i += 1) {
      await addAsset(bed.db, job, { assetType: 'paste', storagePath: objectKeyOf(`code${i}`) });
    }
    await page(job.jobId);
    const before = bed.api.statements.length;
    expect((await page(job.jobId)).assets).toHaveLength(5);
    expect(bed.api.statements).toHaveLength(before + 3);
  });

  it('shows up to 1,000 assets, newest first, and the cursor of the next page', async () => {
    const job = await running('import');
    const asset = {
      job_id: job.jobId,
      user_id: user.id,
      asset_type: 'paste',
      url: 's3://pasteflow/pastes/x',
      storage_path: 'pastes/x',
      file_size: 1,
    };
    const rows = Array.from({ length: 1001 }, (_, position) => ({ ...asset, position }));
    await bed.db.insertInto('assets').values(rows).execute();
    const first = await page(job.jobId);
    const second = await page(job.jobId, `?cursor=${first.next_cursor}`);
    expect([first.assets.length, second.assets.length, second.next_cursor]).toEqual([1000, 1, null]);
    expect(new Set([...first.assets, ...second.assets].map(({ id }) => id)).size).toBe(1001);
    const three = await page(job.jobId, '?limit=3');
    expect(three.assets).toEqual(first.assets.slice(0, 3));
  });

  it('is empty before the job has created anything', async () => {
    expect(await page(await newJob(bed.db, user))).toEqual({ assets: [], next_cursor: null });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['cursor=x', 'cursor'],
    ['status=queued', 'status'],
  ])('answers 422 with the path of the error: %s', async (query, path) => {
    const problem = await problemOf(await get(await newJob(bed.db, user), `?${query}`));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path }] });
  });
});
