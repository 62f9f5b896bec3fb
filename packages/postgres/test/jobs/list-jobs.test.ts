import { beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import {
  listAssets,
  listJobs,
  type JobFilter,
  type Page,
  type PageRequest,
  type Place,
} from '../../src/index.ts';
import { makeJobs, makeUsers } from '../../src/testing/index.ts';
import { useDatabase } from '../support/database.ts';

const current = useDatabase({ fresh: 'file' });
let userId: string;
const filter = (only: Partial<JobFilter> = {}): JobFilter => ({
  userId,
  status: null,
  jobType: null,
  ...only,
});

beforeEach(async () => {
  const [user] = await makeUsers(current.db, 1);
  userId = user!.id;
});

/** Reads each page of a list and calls `between` after each. */
async function walk<Row>(
  list: (page: PageRequest) => Promise<Page<Row>>,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly (readonly Row[])[]> {
  const pages = [];
  let after: Place | null = null;
  do {
    const page: Page<Row> = await list({ limit, after });
    pages.push(page.rows);
    after = page.next;
    await between();
  } while (after !== null);
  return pages;
}

describe('J7: the list of a user’s jobs', () => {
  it('has each job once, newest first, in pages of the requested size', async () => {
    for (const createdSecondsAgo of [30, 10, 20]) {
      await makeJobs(current.db, 3, { userId, status: 'queued', createdSecondsAgo }); // the same time three times
    }
    const pages = await walk((page) => listJobs(current.db, filter(), page), 4);
    expect(pages.map((rows) => rows.length)).toEqual([4, 4, 1]);
    const rows = pages.flat();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(9);
    const { rows: sorted } = await sql<{ id: string }>`
      SELECT id FROM jobs WHERE user_id = ${userId} ORDER BY created_at DESC, id DESC`.execute(current.db);
    expect(rows.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
  });

  it('has no next page after a full last page', async () => {
    await makeJobs(current.db, 4, { userId, status: 'queued' });
    expect(
      (await walk((page) => listJobs(current.db, filter(), page), 2)).map(({ length }) => length),
    ).toEqual([2, 2]);
    const none = await listJobs(current.db, filter({ status: 'failed' }), { limit: 2, after: null });
    expect(none).toEqual({ rows: [], next: null });
  });

  it('does not change for a reader while jobs are added and others change state', async () => {
    const jobs = await makeJobs(current.db, 10, { userId, status: 'processing' });
    const pages = await walk(
      (page) => listJobs(current.db, filter(), page),
      3,
      async () => {
        await makeJobs(current.db, 5, { userId, status: 'queued', createdSecondsAgo: 0 });
        await sql`UPDATE jobs SET progress = progress + 1 WHERE user_id = ${userId}`.execute(current.db);
      },
    );
    const ids = pages.flat().map(({ id }) => id);
    expect(ids.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });

  it('can be filtered by status, by type, or by both', async () => {
    const made: string[] = [];
    for (const status of ['queued', 'processing', 'completed', 'partial', 'failed'] as const) {
      for (const jobType of ['import', 'export']) {
        await makeJobs(current.db, 2, { userId, status, jobType });
        made.push(`${jobType} ${status}`, `${jobType} ${status}`);
      }
    }
    const found = async (only: Partial<JobFilter>) =>
      (await walk((page) => listJobs(current.db, filter(only), page), 3))
        .flat()
        .map((row) => `${row.job_type} ${row.status}`)
        .toSorted();
    expect(await found({})).toEqual(made.toSorted());
    expect(await found({ status: 'partial' })).toEqual(
      made.filter((kind) => kind.endsWith('partial')).toSorted(),
    );
    expect(await found({ jobType: 'export' })).toEqual(
      made.filter((kind) => kind.startsWith('export')).toSorted(),
    );
    expect(await found({ status: 'failed', jobType: 'import' })).toEqual(['import failed', 'import failed']);
  });

  it('has no jobs of other users', async () => {
    const [other] = await makeUsers(current.db, 1);
    await makeJobs(current.db, 3, { userId: other!.id, status: 'queued' });
    expect((await listJobs(current.db, filter(), { limit: 9, after: null })).rows).toEqual([]);
  });
});

describe('J7: the list of a job’s assets', () => {
  it('has each asset of the job once, newest first', async () => {
    const jobs = await makeJobs(current.db, 2, { userId, status: 'completed', assets: 7 });
    await sql`UPDATE assets SET created_at = created_at - make_interval(secs => substr(storage_path, 48)::integer % 3)`.execute(
      current.db,
    );
    const jobId = jobs[0]!.id;
    const pages = await walk((page) => listAssets(current.db, jobId, page), 3);
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
    const rows = pages.flat();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(7);
    expect(rows.every((row) => row.job_id === jobId)).toBe(true);
    const times = rows.map((row) => row.created_at.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(new Set(times).size).toBe(3);
  });
});
