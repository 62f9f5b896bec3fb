import { describe, expect, it } from '@jest/globals';
import { JobFailedError, type Job, type NewJob } from '../src/index.ts';
import { JOB_ID, jobWith } from './support/job.ts';
import { json, problem, reset, type Handler } from './support/scripted-server.ts';
import { useServer } from './support/server.ts';

const bed = useServer();

const newJob = { job_type: 'export', parameters: {} } as NewJob;
const queued = json(202, { job_id: JOB_ID, status: 'queued' });
const job = (fields: Partial<Job>): Handler => json(200, jobWith(fields));
const requests = (): string[] => bed.server.requests.map(({ method, path }) => `${method} ${path}`);

describe('jobs.create', () => {
  it('resolves as soon as the job is queued, and is retried with one Idempotency-Key', async () => {
    bed.server.script(reset, queued);
    expect(await bed.client().jobs.create(newJob)).toEqual({ job_id: JOB_ID, status: 'queued' });
    const [first, second, ...more] = bed.server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
    expect(more).toEqual([]);
  });

  it.each(['completed', 'partial'] as const)('resolves to a job that is %s with wait', async (status) => {
    bed.server.script(queued, job({}), reset, job({ status: 'processing' }), job({ status, progress: 100 }));
    expect(await bed.client().jobs.create(newJob, { wait: true })).toEqual(
      jobWith({ status, progress: 100 }),
    );
    expect(requests()).toEqual(['POST /v1/jobs', ...Array<string>(4).fill(`GET /v1/jobs/${JOB_ID}`)]);
  });

  it('rejects with the job when it has failed, with wait', async () => {
    bed.server.script(queued, job({ status: 'failed', error_message: 'the archive is a bomb' }));
    const error: unknown = await bed
      .client()
      .jobs.create(newJob, { wait: true })
      .catch((each: unknown) => each);
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({
      message: `job ${JOB_ID} failed: the archive is a bomb`,
      job: { status: 'failed' },
    });
  });
});

describe('jobs.wait', () => {
  it('reports each change of status, progress and message once', async () => {
    const steps = [
      job({}),
      job({ status: 'processing', progress: 10, progress_message: 'a' }),
      job({ status: 'processing', progress: 10, progress_message: 'a', updated_at: 'later' }),
      job({ status: 'processing', progress: 10, progress_message: 'b' }),
      job({ status: 'processing', progress: 90, progress_message: 'b' }),
      job({ status: 'completed', progress: 100, progress_message: 'b' }),
    ];
    bed.server.script(...steps);
    const seen: unknown[] = [];
    await bed.client().jobs.wait(JOB_ID, {
      onProgress: ({ status, progress, progress_message }) => seen.push([status, progress, progress_message]),
    });
    expect(seen).toEqual([
      ['queued', 0, null],
      ['processing', 10, 'a'],
      ['processing', 10, 'b'],
      ['processing', 90, 'b'],
      ['completed', 100, 'b'],
    ]);
  });

  it.each([
    [403, 'job_forbidden'],
    [404, 'job_not_found'],
  ])('ends with an error of status %s and code %s', async (status, code) => {
    bed.server.script(job({}), problem(status, code));
    await expect(bed.client().jobs.wait(JOB_ID)).rejects.toMatchObject({ status, code });
  });

  it('waits no longer than timeoutMs, and ends when its AbortSignal fires', async () => {
    bed.server.script(job({ status: 'processing' }));
    await expect(bed.client().jobs.wait(JOB_ID, { timeoutMs: 1000 })).rejects.toMatchObject({
      name: 'PasteflowTimeoutError',
      message: `job ${JOB_ID} is processing after 1000 ms`,
    });
    const controller = new AbortController();
    const reason = new Error('the user has left');
    const waiting = bed.client().jobs.wait(JOB_ID, {
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(waiting).rejects.toBe(reason);
  });
});

describe('jobs.cancel', () => {
  it('resolves to the cancelled job, and is retried', async () => {
    const cancelled = { status: 'failed', error_message: 'cancelled by its owner' } as const;
    bed.server.script(reset, job(cancelled));
    expect(await bed.client().jobs.cancel(JOB_ID)).toEqual(jobWith(cancelled));
    expect(requests()).toEqual(Array<string>(2).fill(`POST /v1/jobs/${JOB_ID}/cancel`));
  });

  it('rejects at once when the job has ended by itself', async () => {
    bed.server.script(problem(409, 'job_ended'));
    await expect(bed.client().jobs.cancel(JOB_ID)).rejects.toMatchObject({ status: 409, code: 'job_ended' });
    expect(requests()).toHaveLength(1);
  });
});
