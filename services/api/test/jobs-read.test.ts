import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { InvalidTransitionError, job as jobMachine, statesOf } from '@pasteflow/domain';
import { answerTo } from '../src/http/answers/problem.ts';
import { useApi } from './support/api.ts';
import { problemOf } from './support/http.ts';
import { claim, end, endedJob, newJob, progress } from './support/jobs.ts';
import { newUser, type TestUser } from './support/users.ts';

const bed = useApi();
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
let user: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  user = await newUser(bed.db);
  stranger = await newUser(bed.db);
});

const get = (path: string, { headers }: { headers: Readonly<Record<string, string>> } = user) =>
  fetch(`${bed.api.url}/v1/jobs/${path}`, { headers });

describe('GET /v1/jobs/:id', () => {
  it('shows a job that is queued, processing, and ended', async () => {
    const jobId = await newJob(bed.db, user);
    const queued = {
      id: jobId,
      job_type: 'export',
      title: null,
      status: 'queued',
      progress: 0,
      progress_message: null,
      error_message: null,
      parameters: {},
      result: null,
      created_at: INSTANT,
      updated_at: INSTANT,
      completed_at: null,
      retry_of: null,
      retried_as: null,
    };
    const response = await get(jobId);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect([response.status, await response.json()]).toEqual([200, queued]);

    const executionId = await claim(bed.db, jobId);
    expect(await progress(bed.db, { jobId, executionId }, 40, 'two of five')).toBe(true);
    expect(await (await get(jobId)).json()).toEqual({
      ...queued,
      status: 'processing',
      progress: 40,
      progress_message: 'two of five',
    });

    await end(bed.db, executionId, { status: 'partial', result: { made: 2 }, errorMessage: 'three failed' });
    expect(await (await get(jobId)).json()).toEqual({
      ...queued,
      status: 'partial',
      progress: 100,
      progress_message: 'two of five',
      error_message: 'three failed',
      result: { made: 2 },
      completed_at: INSTANT,
    });
  });

  it('shows the parameters with their defaults', async () => {
    const parameters = { a: [1, null, { b: 'ä\n"\\' }], __proto__x: 'y' };
    const jobId = await newJob(bed.db, user);
    await bed.db
      .updateTable('jobs')
      .set({ parameters: JSON.stringify(parameters) })
      .where('id', '=', jobId)
      .execute();
    expect(await (await get(jobId)).json()).toMatchObject({ parameters });
  });

  it('accepts an id in upper case, and answers HEAD', async () => {
    const jobId = await newJob(bed.db, user);
    expect((await get(jobId.toUpperCase())).status).toBe(200);
    const head = await fetch(`${bed.api.url}/v1/jobs/${jobId}`, { method: 'HEAD', headers: user.headers });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

describe('a transition that is not in the table', () => {
  it('is refused with an error that names both states, which becomes a 409', async () => {
    const jobId = await endedJob(bed.db, user);
    const change = bed.db
      .updateTable('jobs')
      .set({ status: 'processing', completed_at: null })
      .where('id', '=', jobId);
    const error: unknown = await change.execute().catch((each: unknown) => each);
    expect(error).toBeInstanceOf(InvalidTransitionError);
    expect(answerTo(error, '/v1/jobs').problem).toMatchObject({
      status: 409,
      code: 'invalid_transition',
      detail: "Cannot transition from 'completed' to 'processing'",
    });
    expect(await (await get(jobId)).json()).toMatchObject({ status: 'completed' });
  });

  it('includes every transition out of a terminal state', async () => {
    for (const status of ['completed', 'partial', 'failed'] as const) {
      const jobId = await endedJob(bed.db, user, { status });
      for (const to of statesOf(jobMachine).filter((each) => each !== status)) {
        const change = bed.db.updateTable('jobs').set({ status: to }).where('id', '=', jobId);
        await expect(change.execute()).rejects.toThrow(`Cannot transition from '${status}' to '${to}'`);
      }
    }
  });
});

describe('the progress of a job that is not processing', () => {
  it('is ignored', async () => {
    const jobId = await newJob(bed.db, user);
    const executionId = await claim(bed.db, jobId);
    await end(bed.db, executionId, { status: 'failed', result: {}, errorMessage: 'no' });
    expect(await progress(bed.db, { jobId, executionId }, 70)).toBe(false);
    expect(await (await get(jobId)).json()).toMatchObject({ status: 'failed', progress: 0 });
  });
});

describe.each(['', '/assets', '/timeline'])('only the owner sees a job: GET /v1/jobs/:id%s', (path) => {
  it('answers 403 to another user, and 404 for an unknown job: different errors', async () => {
    const jobId = await endedJob(bed.db, user);
    expect((await get(jobId + path)).status).toBe(200);
    expect(await problemOf(await get(jobId + path, stranger))).toMatchObject({
      status: 403,
      code: 'job_forbidden',
    });
    for (const who of [user, stranger]) {
      expect(await problemOf(await get(randomUUID() + path, who))).toMatchObject({
        status: 404,
        code: 'job_not_found',
      });
    }
  });

  it('answers 401 without a token, whether or not the job exists', async () => {
    for (const id of [await newJob(bed.db, user), randomUUID(), 'x']) {
      const response = await get(id + path, { headers: {} });
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
      expect(await problemOf(response)).toMatchObject({ status: 401, code: 'unauthorized' });
    }
  });

  it('answers 404 for an id that is not a UUID, without a statement for the job', async () => {
    await get(randomUUID()); // records the use of the token
    for (const id of ['x', '1', `${randomUUID()}0`, `${randomUUID()}%00`, '%F0%9F%98%80', 'x'.repeat(5000)]) {
      const before = bed.api.statements.length;
      expect(await problemOf(await get(id + path))).toMatchObject({ status: 404, code: 'job_not_found' });
      expect(bed.api.statements).toHaveLength(before + 1); // the token's
    }
  });

  it('answers the same for a removed job', async () => {
    const jobId = await endedJob(bed.db, user);
    await bed.db.deleteFrom('jobs').where('id', '=', jobId).execute();
    expect(await problemOf(await get(jobId + path))).toMatchObject({ status: 404, code: 'job_not_found' });
  });
});

describe('GET /v1/jobs/:id/timeline', () => {
  it('shows the transitions of the job and of its executions, oldest first', async () => {
    const jobId = await endedJob(bed.db, user);
    const body = (await (await get(`${jobId}/timeline`)).json()) as {
      transitions: { at: string }[];
      executions: { id: string }[];
    };
    const execution = body.executions[0]!.id;
    expect(body.transitions).toHaveLength(4);
    expect(body).toMatchObject({
      transitions: expect.arrayContaining([
        transition('task_execution', execution, 'PENDING', 'RUNNING'),
        transition('job', jobId, 'queued', 'processing'),
        transition('task_execution', execution, 'RUNNING', 'SUCCEEDED'),
        transition('job', jobId, 'processing', 'completed'),
      ]),
      executions: [{ id: execution, attempt: 1, status: 'SUCCEEDED' }],
    });
    expect(body.transitions.map(({ at }) => at)).toEqual(body.transitions.map(({ at }) => at).toSorted());

    function transition(machine: string, entity: string, from: string, to: string) {
      return expect.objectContaining({ machine, entity, from, to, at: INSTANT, actor: 'worker' });
    }
  });

  it('is available before the first transition', async () => {
    const body = await (await get(`${await newJob(bed.db, user)}/timeline`)).json();
    expect(body).toMatchObject({ transitions: [], executions: [{ status: 'PENDING', started_at: null }] });
  });
});
