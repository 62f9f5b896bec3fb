import { expect, it } from '@jest/globals';
import { completed, jobType, useBench } from '../support/bench.ts';

const bench = useBench();

/** The table "Cost per job" of docs/architecture.md, counted for jobs that one consumer works off. */
const JOB_COUNT = 10;

it('is a claim, a settlement, a receive and a delete each, and a statement for the last of its progress', async () => {
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
  for (const id of ids) expect(await bench.ended(id)).toMatchObject({ progress_message: 'step 1000' });
  await worker.stop();
  const withText = (text: string) => statements.filter((statement) => statement.includes(text)).length;
  expect(withText('asked AS MATERIALIZED')).toBe(JOB_COUNT);
  expect(withText('ending AS MATERIALIZED')).toBe(JOB_COUNT);
  // The first report is written at once, the last before the settlement; the 998 between them are not.
  expect(withText('SET progress = greatest')).toBe(2 * JOB_COUNT);
  // Once, at the start of the worker: the checks of the bucket's owner and of the worker's own role.
  expect(withText('FROM installation')).toBe(1);
  expect(withText('FROM pg_roles')).toBe(1);
  expect(statements).toHaveLength(4 * JOB_COUNT + 2);
  expect(bench.proxy.matching({ target: 'DeleteMessageBatch' })).toHaveLength(JOB_COUNT);
  expect(bench.proxy.matching({ target: 'ReceiveMessage' }).length - JOB_COUNT).toBeLessThanOrEqual(2);
});
