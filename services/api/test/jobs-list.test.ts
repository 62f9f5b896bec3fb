import { beforeAll, describe, expect, it } from '@jest/globals';
import { jobKeyPrefix, objectKeyOf } from '@pasteflow/domain';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { addAsset, claim, endedJob, newJob } from './support/jobs.ts';
import { processedPaste, sha256 } from './support/pastes.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();

describe('listing the jobs of a user', () => {
  interface Page {
    readonly jobs: readonly { readonly id: string; readonly job_type: string; readonly status: string }[];
    readonly next_cursor: string | null;
  }

  const get = ({ headers }: TestUser, query = '') => fetch(`${bed.api.url}/v1/jobs${query}`, { headers });

  async function page(user: TestUser, query = ''): Promise<Page> {
    const response = await get(user, query);
    const body = (await response.json()) as Page;
    expect({ status: response.status, ...(response.status !== 200 && { body }) }).toEqual({ status: 200 });
    return body;
  }

  const ids = ({ jobs }: Page) => jobs.map(({ id }) => id);

  /** Every job of a list, page by page. */
  async function all(user: TestUser, query: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const next = await page(user, `?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...ids(next));
      cursor = next.next_cursor;
    }
    return found;
  }

  let user: TestUser;
  /** Newest first. */
  const jobs: string[] = [];

  beforeAll(async () => {
    user = await newUser(bed.db);
    const stranger = await newUser(bed.db);
    for (let i = 0; i < 8; i += 1) {
      jobs.unshift(await newJob(bed.db, user, i % 2 === 0 ? 'export' : 'import'));
      await newJob(bed.db, stranger);
    }
    for (let i = 0; i < 17; i += 1) jobs.unshift(await endedJob(bed.db, user));
  });

  it('answers with the newest 20, without long columns, and the cursor of the next page', async () => {
    const first = await page(user);
    expect(ids(first)).toEqual(jobs.slice(0, 20));
    expect(Object.keys(first.jobs[0]!)).toEqual([
      'id',
      'job_type',
      'title',
      'status',
      'progress',
      'progress_message',
      'error_message',
      'created_at',
      'updated_at',
      'completed_at',
      'retry_of',
      'retried_as',
    ]);
    const second = await page(user, `?cursor=${first.next_cursor}`);
    expect([ids(second), second.next_cursor]).toEqual([jobs.slice(20), null]);
  });

  it('lists every job once, on pages of any size', async () => {
    for (const limit of [1, 7, 25, 100]) expect(await all(user, `limit=${limit}`)).toEqual(jobs);
    expect((await page(user, '?limit=25')).next_cursor).toBeNull();
  });

  it('continues at the same place when newer jobs are created', async () => {
    const other = await newUser(bed.db);
    const old = [
      await newJob(bed.db, other),
      await newJob(bed.db, other),
      await newJob(bed.db, other),
    ].toReversed();
    const first = await page(other, '?limit=2');
    await newJob(bed.db, other);
    expect([...ids(first), ...ids(await page(other, `?limit=2&cursor=${first.next_cursor}`))]).toEqual(old);
  });

  it('filters by state, by type, and by both', async () => {
    expect(await all(user, 'status=completed&limit=5')).toEqual(jobs.slice(0, 17));
    expect(await all(user, 'status=queued&limit=5')).toEqual(jobs.slice(17));
    expect(await all(user, 'job_type=import&limit=3')).toEqual(
      jobs.slice(17).filter((_id, i) => i % 2 === 0),
    );
    expect(await all(user, 'job_type=export&status=queued')).toEqual(
      jobs.slice(17).filter((_id, i) => i % 2 === 1),
    );
    expect(await page(user, '?status=processing')).toEqual({ jobs: [], next_cursor: null });
    await claim(bed.db, jobs.at(-1)!);
    expect(ids(await page(user, '?status=processing'))).toEqual([jobs.at(-1)]);
  });

  it('runs two statements, including the token’s', async () => {
    await page(user);
    const before = bed.api.statements.length;
    await page(user, '?status=queued&job_type=import&limit=3');
    expect(bed.api.statements).toHaveLength(before + 2);
  });

  it('is empty for a user without jobs', async () => {
    expect(await page(await newUser(bed.db))).toEqual({ jobs: [], next_cursor: null });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=PROCESSED', 'status'],
    ['status=', 'status'],
    ['job_type=', 'job_type'],
    ['job_type=unknown', 'job_type'],
    ['cursor=', 'cursor'],
    ['cursor=x', 'cursor'],
    ['cursor=bnVsbA', 'cursor'],
    ['colour=red', 'colour'],
  ])('answers 422 with the path of the error: %s', async (query, path) => {
    const problem = await problemOf(await get(user, `?${query}`));
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path }] });
  });

  it('answers 401 without a token', async () => {
    expect(await problemOf(await fetch(`${bed.api.url}/v1/jobs`))).toMatchObject({
      status: 401,
      code: 'unauthorized',
    });
  });
});

describe('GET /v1/jobs/:id/assets', () => {
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
          name: null,
          number: null,
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
