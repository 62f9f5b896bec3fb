import { expect } from '@jest/globals';
import type { Database } from '@pasteflow/postgres';
import type { ApiBed } from './api.ts';
import { newKey, postKeyed, wholeAnswer } from './keyed.ts';
import { countPastes } from './pastes.ts';

/**
 * Sends so many requests with one key at once to two copies of the api, and repeats those that are answered
 * 409. They create one paste, and each gets its answer.
 */
export async function raceOneKey(bed: ApiBed, requests: number): Promise<void> {
  const other = await bed.start();
  const key = newKey();
  const before = await counts(bed.db);
  const post = (n: number) => postKeyed((n % 2 === 0 ? bed.api : other).url, { key });
  const all = Array.from({ length: requests }, (_, n) => n);
  const first = await Promise.all(all.map((n) => post(n)));
  const running = first.filter(({ status }) => status === 409);
  for (const { headers } of running) expect(headers.get('retry-after')).toMatch(/^[1-8]$/);
  expect(first.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
  const again = await Promise.all(
    first.map(async (response, n) => (response.status === 409 ? await post(n) : response)),
  );
  const answers = await Promise.all(again.map(wholeAnswer));
  expect(answers.map(({ status }) => status)).toEqual(all.map(() => 201));
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  const distinct = new Set(answers.map(({ headers, body }) => JSON.stringify([headers, body.toString()])));
  expect(distinct.size).toBe(1);
  expect(await counts(bed.db)).toEqual(before.map((count) => count + 1));
}

/** Of the pastes and of the executions. */
async function counts(db: Database): Promise<number[]> {
  const executions = await db.selectFrom('task_executions').select('id').execute();
  return [await countPastes(db), executions.length];
}
