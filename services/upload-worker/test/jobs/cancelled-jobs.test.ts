import { describe, expect, it, jest } from '@jest/globals';
import { ExecutionTakenError } from '@pasteflow/domain';
import { spawnService, urlOfService } from '@pasteflow/dev-stack/testing';
import type { JobContext } from '@pasteflow/jobs';
import { cancelJob } from '@pasteflow/postgres';
import { completed, jobType, until, untilAborted, useBench } from '../support/bench.ts';
import { reap } from '../support/reap.ts';

const bench = useBench();
const WHY = 'cancelled: cancelled by its owner';
const cancel = (jobId: string) => cancelJob(bench.db, { jobId, actor: 'api/test', by: 'its owner' });

jest.setTimeout(120_000); // on a busy machine a process takes seconds to start

describe('a job that is cancelled', () => {
  it('while it runs is aborted at the next heartbeat, and its worker writes nothing more and runs the next job', async () => {
    const begun = Promise.withResolvers<JobContext<unknown>>();
    let runs = 0;
    const type = jobType('long', (context) => {
      runs += 1;
      if (runs > 1) return Promise.resolve(completed);
      begun.resolve(context);
      return untilAborted(context.signal);
    });
    const id = await bench.submit('long');
    const env = { EXECUTION_LEASE_SECONDS: '3', JOB_CONCURRENCY: '1' };
    const worker = await bench.start([type], { env });
    const context = await begun.promise;
    expect(await cancel(id)).toBe('processing');
    await until(
      () => context.signal.aborted,
      (aborted) => aborted,
    );
    const asset = { assetType: 'archive', storagePath: 'jobs/x/y.zip', fileSize: 1 };
    await expect(context.createAsset(asset)).rejects.toThrow(ExecutionTakenError);
    expect((await bench.untilEnded(await bench.submit('long'))).status).toBe('completed');
    await bench.untilAcknowledged();
    expect(await bench.job(id)).toMatchObject({ status: 'failed', error_message: WHY });
    expect(await bench.attempts(id)).toEqual([[1, 'FAILED', WHY]]);
    expect(runs).toBe(2);
    expect(worker.log.lines.map(({ message }) => message)).toContain('job cancelled; attempt dropped');
    expect(worker.log.lines.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([]);
    const metrics = await worker.metrics.text();
    expect(metrics).toMatch(/job_attempts_cancelled_total\{.*job_type="long".*\} 1/);
    expect(metrics).not.toMatch(/job_(leases|settlements)_lost_total\{.*\} [1-9]/);
  });

  it('before a worker receives its message never runs, and the message is acknowledged', async () => {
    const run = jest.fn(() => Promise.resolve(completed));
    const id = await bench.submit('long');
    expect(await cancel(id)).toBe('queued');
    await bench.start([jobType('long', run)]);
    await bench.untilAcknowledged();
    expect(run).not.toHaveBeenCalled();
    expect(await bench.job(id)).toMatchObject({ status: 'failed', error_message: WHY });
  });

  it('stays so when its worker is killed before it learns of that', async () => {
    const worker = spawnService({
      entry: new URL('../fixtures/worker.ts', import.meta.url).pathname,
      name: 'upload-worker',
      env: {
        DATABASE_URL: urlOfService(bench.databaseUrl, 'upload-worker'),
        AWS_ENDPOINT_URL: bench.proxy.url,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        METRICS_PORT: '0',
        EXECUTION_LEASE_SECONDS: '60', // it renews its lease after 20 s
        UPLOAD_WORKER_QUEUES: 'jobs',
      },
    });
    const id = await bench.submit('hangs', { makes: true, deadly: false });
    await until(
      () => bench.job(id),
      ({ progress }) => progress === 50,
    );
    expect(await cancel(id)).toBe('processing');
    worker.kill('SIGKILL');
    await worker.exited;
    expect(await reap(bench)).toBe(0);
    expect(await bench.job(id)).toMatchObject({
      status: 'partial',
      progress: 50,
      result: { assets: 1 },
      error_message: WHY,
    });
    expect(await bench.attempts(id)).toEqual([[1, 'FAILED', WHY]]);
  });
});
