import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createJob } from '@pasteflow/postgres';
import { makePastes } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { claim, end, endedJob, newJob } from './support/jobs.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
let user: TestUser;
beforeEach(async () => {
  user = await newUser(bed.db);
});

const retry = (jobId: string, { headers }: Pick<TestUser, 'headers'> = user, more = {}) =>
  fetch(`${bed.api.url}/v1/jobs/${jobId}/retry`, { method: 'POST', headers: { ...headers, ...more } });

const read = async (jobId: string) =>
  (await (await fetch(`${bed.api.url}/v1/jobs/${jobId}`, { headers: user.headers })).json()) as Record<
    string,
    unknown
  >;

const failed = () => endedJob(bed.db, user, { status: 'failed' });

const post = (path: string) =>
  fetch(bed.api.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...user.headers, accept: 'text/html', origin: bed.api.url, 'sec-fetch-site': 'same-origin' },
  });

describe('POST /v1/jobs/:id/retry', () => {
  it.each(['failed', 'partial'] as const)(
    'makes a new job of one that is %s, and each names the other',
    async (status) => {
      const old = await endedJob(bed.db, user, { status });
      const response = await retry(old);
      const { job_id: id } = (await response.json()) as { job_id: string };
      expect([response.status, response.headers.get('location')]).toEqual([
        202,
        `${bed.api.url}/v1/jobs/${id}`,
      ]);
      expect(await read(id)).toMatchObject({
        status: 'queued',
        job_type: 'export',
        retry_of: old,
        retried_as: null,
      });
      expect(await read(old)).toMatchObject({ status, retry_of: null, retried_as: id });
      const [execution] = await bed.db
        .selectFrom('task_executions')
        .select('dispatched_at')
        .where('subject_id', '=', id)
        .execute();
      expect(execution).toBeDefined();
    },
  );

  it('is answered 202 once when many ask at the same time, and the others are told the id of the new job', async () => {
    const old = await failed();
    const responses = await Promise.all(Array.from({ length: 8 }, () => retry(old)));
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([202, ...Array.from({ length: 7 }, () => 409)]);
    const id = (await read(old))['retried_as'];
    for (const response of responses.filter(({ status }) => status === 409))
      expect(await problemOf(response)).toMatchObject({
        code: 'job_not_retryable',
        detail: `This job was retried as job ${String(id)}. When that has failed, retry that one.`,
      });
  });

  it('is refused for jobs in other states, of other users, and with deleted items', async () => {
    const queued = await newJob(bed.db, user);
    expect(await problemOf(await retry(queued))).toMatchObject({
      status: 409,
      code: 'job_not_retryable',
      detail: 'This job is queued. Only failed and partial jobs are retried.',
    });
    expect(await problemOf(await retry(await endedJob(bed.db, user)))).toMatchObject({
      code: 'job_not_retryable',
    });
    expect(await problemOf(await retry(await failed(), await newUser(bed.db)))).toMatchObject({
      code: 'job_forbidden',
    });
    expect(await problemOf(await retry(randomUUID()))).toMatchObject({ code: 'job_not_found' });
    const created = await fetch(`${bed.api.url}/v1/jobs`, {
      method: 'POST',
      headers: { ...user.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ job_type: 'import', parameters: { items: [{ content: 'secret' }] } }),
    });
    const { job_id: id } = (await created.json()) as { job_id: string };
    await end(bed.db, await claim(bed.db, id), { status: 'failed', result: {}, errorMessage: 'no' });
    expect(await problemOf(await retry(id))).toMatchObject({
      detail: 'The items of this job were deleted when it ended. Create a new job with them.',
    });
  });

  it('is refused when the source of the import is gone', async () => {
    const [source] = await makePastes(bed.db, 1, { status: 'PROCESSED' });
    const { id } = await createJob(bed.db, {
      userId: user.id,
      jobType: 'import',
      parameters: { source_short_code: source!.shortCode },
    });
    await end(bed.db, await claim(bed.db, id), { status: 'failed', result: {}, errorMessage: 'no' });
    await sql`UPDATE pastes SET deletion_requested_at = now() WHERE id = ${source!.id}`.execute(bed.db);
    expect(await problemOf(await retry(id))).toMatchObject({
      status: 409,
      detail: `The paste ${source!.shortCode} does not exist, has expired or was deleted. Create a new job from another paste.`,
    });
  });

  it('replays its answer for the same Idempotency-Key', async () => {
    const old = await failed();
    const key = { 'idempotency-key': randomUUID() };
    const first = await (await retry(old, user, key)).json();
    const again = await retry(old, user, key);
    expect([again.status, again.headers.get('idempotency-replayed'), await again.json()]).toEqual([
      202,
      'true',
      first,
    ]);
  });
});

describe('the page of a job', () => {
  it('retries it with one button, and shows both jobs to each other; the form sent twice leads to the same job', async () => {
    const old = await failed();
    const page = async (id: string) =>
      await (
        await fetch(`${bed.api.url}/my/jobs/${id}`, { headers: { ...user.headers, accept: 'text/html' } })
      ).text();
    const button = `action="/my/jobs/${old}/retry"`;
    expect(await page(old)).toContain(button);
    const first = await post(`/my/jobs/${old}/retry`);
    const id = String((await read(old))['retried_as']);
    expect([first.status, first.headers.get('location')]).toEqual([303, `/my/jobs/${id}`]);
    const second = await post(`/my/jobs/${old}/retry`);
    expect([second.status, second.headers.get('location')]).toEqual([303, `/my/jobs/${id}`]);
    expect(await page(old)).not.toContain(button);
    expect(await page(old)).toContain(`<dt>Retried as</dt><dd><a href="/my/jobs/${id}">`);
    expect(await page(id)).toContain(`<dt>Retry of</dt><dd><a href="/my/jobs/${old}">`);
  });
});
