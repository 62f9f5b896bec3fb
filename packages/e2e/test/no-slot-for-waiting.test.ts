import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Paste } from '@pasteflow/client';
import { startCluster, type Cluster } from '../src/index.ts';

const FAILING = 50;
const OTHERS = 20;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    env: {
      UPLOAD_CONCURRENCY: '2', // 20 slots
      S3_PUT_TIMEOUT_MS: '1000',
      UPLOAD_RETRY_DELAYS_MS: '600000', // a wait that outlasts every test: a slot that it held would be lost
    },
  });
});
afterEach(() => cluster.s3.clear());
afterAll(() => cluster.stop());

const createMany = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => cluster.client().pastes.create(`paste ${n}`)));

/** Statuses of the pastes, and of the executions that are open, with how many have each. */
async function statuses(pastes: readonly Paste[]): Promise<Record<string, number>> {
  const rows = await cluster.rows.query<{ status: string; count: number }>(
    `SELECT concat_ws(' attempt ', p.status, e.attempt) AS status, count(*)::int
     FROM pastes p LEFT JOIN task_executions e ON e.subject_id = p.id AND e.status IN ('PENDING', 'RUNNING')
     WHERE p.short_code = ANY ($1) GROUP BY 1`,
    [pastes.map(({ short_code }) => short_code)],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** As if the wait were over: it is moved in the rows, and the relay does the rest. */
async function endTheWait(): Promise<void> {
  await cluster.rows.query(
    `UPDATE task_executions SET run_at = now() - interval '1 hour', dispatched_at = now() - interval '1 hour'
     WHERE status = 'PENDING'`,
  );
}

describe('while S3 is down for 50 pastes (R4)', () => {
  it.each([
    ['answers with 500', { kind: 'fail', status: 500 } as const],
    ['never answers', { kind: 'hang' } as const],
  ])(
    'and %s, waiting for their retry holds no slot: uploads that work go on',
    async (_, fault) => {
      const allFails = cluster.s3.rule({ method: 'PUT' }, fault);
      const failing = await createMany(FAILING);
      await cluster.until(
        () => statuses(failing),
        (found) => found['IN_PROGRESS attempt 2'] === FAILING,
        { within: 60_000 },
      );
      const path = new RegExp(failing.map(({ short_code }) => short_code).join('|'));
      cluster.s3.rule({ method: 'PUT', path }, fault);
      allFails();

      const others = await createMany(OTHERS);
      await cluster.until(
        () => statuses(others),
        (found) => found.PROCESSED === OTHERS,
        { within: 30_000 },
      );
      expect(await statuses(failing)).toEqual({ 'IN_PROGRESS attempt 2': FAILING });

      cluster.s3.clear();
      await endTheWait();
      await cluster.until(
        () => statuses(failing),
        (found) => found.PROCESSED === FAILING,
        { within: 60_000 },
      );
      expect(cluster.s3.matching({ method: 'PUT', path })).toHaveLength(2 * FAILING);
    },
    120_000,
  );
});
