import { describe, expect, it, jest } from '@jest/globals';
import { spawnService, type SpawnedProcess, urlOfService } from '@pasteflow/dev-stack/testing';
import { until, useBench } from '../support/bench.ts';
import { reap } from '../support/reap.ts';

const bench = useBench();

const start = (): SpawnedProcess =>
  spawnService({
    entry: new URL('../fixtures/worker.ts', import.meta.url).pathname,
    name: 'upload-worker',
    env: {
      DATABASE_URL: urlOfService(bench.databaseUrl, 'upload-worker'),
      AWS_ENDPOINT_URL: bench.proxy.url,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      METRICS_PORT: '0',
      EXECUTION_LEASE_SECONDS: '2',
      UPLOAD_WORKER_QUEUES: 'jobs',
    },
  });

/** Kills a worker in the middle of its job, and ends the execution when the lease has expired. */
async function killInTheMiddle(id: string): Promise<void> {
  const worker = start();
  await worker.waitFor(/"message":"hanging"/);
  await until(
    () => bench.job(id),
    ({ progress }) => progress === 50,
  );
  worker.kill('SIGKILL');
  await worker.exited;
  await until(
    () => reap(bench),
    (reaped) => reaped === 1,
  );
}

jest.setTimeout(120_000); // on a busy machine a process takes seconds to start

describe('a job whose worker is killed', () => {
  it('runs again on another worker, which continues after the existing assets (J9)', async () => {
    const id = await bench.submit('hangs', { makes: true, deadly: false });
    await killInTheMiddle(id);
    expect(await bench.job(id)).toMatchObject({ status: 'processing', progress: 50 });
    const other = start();
    expect(await bench.untilEnded(id)).toMatchObject({ status: 'completed', result: { pid: other.pid } });
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', 'worker lost'],
      [1, 'SUCCEEDED', null],
    ]);
    expect(await other.stop()).toEqual({ code: 0, signal: null });
  });

  it.each([
    [false, 'failed', null],
    [true, 'partial', { assets: 1 }],
  ])(
    'each time reaches a terminal state: with assets %s the job is %s (J6, J9)',
    async (makes, status, result) => {
      const id = await bench.submit('hangs', { makes, deadly: true });
      await killInTheMiddle(id);
      await killInTheMiddle(id);
      expect(await bench.job(id)).toMatchObject({
        status,
        result,
        error_message: 'lost too often: lost 2 times; the last: worker lost',
        completed_at: expect.any(Date),
      });
      expect((await bench.attempts(id)).map(([attempt]) => attempt)).toEqual([1, 1]);
    },
  );
});
