import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { claim, endedJob, newJob } from './support/jobs.ts';
import { newUser, type TestUser } from './support/users.ts';

interface Page {
  readonly jobs: readonly { readonly id: string; readonly job_type: string; readonly status: string }[];
  readonly next_cursor: string | null;
}

const bed = useApi();

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

describe('listing the jobs of a user', () => {
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
      'status',
      'progress',
      'progress_message',
      'error_message',
      'created_at',
      'updated_at',
      'completed_at',
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
