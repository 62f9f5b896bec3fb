import { describe, expect, it } from '@jest/globals';
import { startTestStack } from '@pasteflow/dev-stack/testing';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { findJob, isTimeout } from '@pasteflow/postgres';
import { countSlowUpdates, slowUpdates } from '@pasteflow/postgres/testing';
import { completed, jobType, until, useBenchOn, type BenchWorker } from '../support/bench.ts';

const bench = useBenchOn(() => startTestStack());

const untilSettlingFails = ({ log }: BenchWorker) =>
  until(
    () => log.lines.filter(({ message }) => message.startsWith('settling a job failed')).length,
    (failures) => failures >= 2,
  );

describe('while Postgres is unavailable, a job', () => {
  it('is postponed, without spending an attempt, when its first statement fails', async () => {
    const begun = Promise.withResolvers<void>();
    const isDown = Promise.withResolvers<void>();
    const type = jobType('reader', async ({ services, jobId }) => {
      begun.resolve();
      await isDown.promise;
      await findJob(services.db, jobId);
      return completed;
    });
    const id = await bench.submit('reader');
    const worker = await bench.start([type]);
    await begun.promise;
    await bench.stack.restartPostgres(async () => {
      isDown.resolve();
      await untilSettlingFails(worker);
    });
    expect((await bench.untilEnded(id)).status).toBe('completed');
    expect(await bench.attempts(id)).toEqual([
      [1, 'FAILED', 'database unavailable: postgres does not answer at the moment; try again shortly.'],
      [1, 'SUCCEEDED', null],
    ]);
  });

  it('that has finished its work is settled with its last progress when Postgres answers again', async () => {
    const begun = Promise.withResolvers<void>();
    const isDown = Promise.withResolvers<void>();
    const type = jobType('worker', async ({ progress }) => {
      begun.resolve();
      await isDown.promise;
      progress(90, 'almost done');
      return { status: 'failed', result: {}, error: 'there was nothing to do' };
    });
    const id = await bench.submit('worker');
    const worker = await bench.start([type]);
    await begun.promise;
    await bench.stack.restartPostgres(async () => {
      isDown.resolve();
      await untilSettlingFails(worker);
    });
    expect(await bench.untilEnded(id)).toMatchObject({
      status: 'failed',
      progress: 90,
      progress_message: 'almost done',
    });
    expect(await bench.attempts(id)).toHaveLength(1);
  });
});

describe('a job whose statements fail', () => {
  it('while Postgres answers spends its attempts, and is not postponed forever', async () => {
    const unavailable = () => Promise.reject(new DependencyUnavailableError('postgres'));
    const id = await bench.submit('slow statement');
    await bench.start([jobType('slow statement', unavailable)], {
      env: { JOB_RETRY_DELAYS_MS: '1' },
    });
    expect((await bench.untilEnded(id)).status).toBe('failed');
    expect((await bench.attempts(id)).map(([attempt]) => attempt)).toEqual([1, 2]);
  });
});

it('a stop cuts the settlements that still wait for Postgres after the grace period of a stop, before their timeout', async () => {
  let restore: (() => Promise<void>) | undefined;
  const type = jobType('slow', async () => {
    restore = await slowUpdates(bench.db, 10);
    return completed;
  });
  const worker = await bench.start([type], { overrides: { stopGraceMs: 100 } });
  const id = await bench.submit('slow');
  await until(
    () => countSlowUpdates(bench.db),
    (count) => count > 0,
  );
  try {
    await worker.stop();
    const failures = worker.log.lines.filter(({ message }) => message.startsWith('settling a job failed'));
    expect(failures).toHaveLength(1);
    expect(isTimeout(failures[0]!.fields.error)).toBe(false);
    expect((await bench.job(id)).status).toBe('processing');
  } finally {
    await restore?.();
  }
});
