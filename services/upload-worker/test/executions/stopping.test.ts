import { expect, it } from '@jest/globals';
import { isTimeout } from '@pasteflow/postgres';
import { countSlowUpdates, slowUpdates } from '@pasteflow/postgres/testing';
import { completed, jobType, until, useBench } from '../support/bench.ts';

const bench = useBench();

it('cuts the settlements that still wait for Postgres after the grace period of a stop, before their timeout', async () => {
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
