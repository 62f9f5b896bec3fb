import { expect, it } from '@jest/globals';
import { completed, jobType, useBench } from '../support/bench.ts';

const bench = useBench();

/** Counts what a job costs by "Cost of a paste" of docs/performance.md, for jobs that one consumer runs. */
const JOB_COUNT = 10;

it('a job costs one claim, one settlement, one receive, one delete, and two statements for its progress', async () => {
  const type = jobType('busy', ({ progress }) => {
    for (let n = 1; n <= 1000; n++) progress(n / 10, `step ${n}`);
    return Promise.resolve(completed);
  });
  const ids: string[] = [];
  for (let n = 0; n < JOB_COUNT; n++) ids.push(await bench.submit('busy'));
  const statements: string[] = [];
  const worker = await bench.start([type], {
    env: { JOB_CONCURRENCY: '1' },
    overrides: { onStatement: ({ query }) => statements.push(query.sql) },
  });
  for (const id of ids) expect(await bench.untilEnded(id)).toMatchObject({ progress_message: 'step 1000' });
  await worker.stop();
  const withText = (text: string) => statements.filter((statement) => statement.includes(text)).length;
  expect(withText('asked AS MATERIALIZED')).toBe(JOB_COUNT);
  expect(withText('ending AS MATERIALIZED')).toBe(JOB_COUNT);
  // The first progress is written at once, and the last before the settlement. The 998 between them are not
  // written.
  expect(withText('SET progress = greatest')).toBe(2 * JOB_COUNT);
  // The start of the worker checks the bucket's owner, its own role, and the settings of Postgres, inserts its
  // types, and asks whether all are paused.
  expect(withText('FROM installation')).toBe(1);
  expect(withText('FROM pg_roles')).toBe(1);
  expect(withText('current_setting(name)')).toBe(1);
  expect(withText('INSERT INTO work_kinds')).toBe(1);
  expect(withText('next_job(false, kinds)')).toBe(1);
  expect(statements).toHaveLength(4 * JOB_COUNT + 5);
  expect(bench.proxy.matching({ target: 'DeleteMessageBatch' })).toHaveLength(JOB_COUNT);
  expect(bench.proxy.matching({ target: 'ReceiveMessage' }).length - JOB_COUNT).toBeLessThanOrEqual(2);
});
