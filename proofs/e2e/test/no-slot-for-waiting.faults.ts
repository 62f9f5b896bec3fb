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
      S3_PUT_TIMEOUT_MS: '3000', // the put of the second attempt must not take as long on a busy machine
      UPLOAD_RETRY_DELAYS_MS: '600000', // longer than every test: a slot that a waiting retry held would never be free
    },
  });
});
afterEach(() => cluster.s3.clear());
afterAll(() => cluster.stop());

const createMany = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => cluster.client().pastes.create(`paste ${n}`)));

/** The number of pastes by status and attempt of the open execution. */
async function statuses(pastes: readonly Paste[]): Promise<Record<string, number>> {
  const rows = await cluster.rows.query<{ status: string; count: number }>(
    `SELECT concat_ws(' attempt ', p.status, e.attempt) AS status, count(*)::int
     FROM pastes p LEFT JOIN task_executions e ON e.subject_id = p.id AND e.status IN ('PENDING', 'RUNNING')
     WHERE p.short_code = ANY ($1) GROUP BY 1`,
    [pastes.map(({ short_code }) => short_code)],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Makes the waiting executions due. The relay then sends their messages. */
async function endWait(): Promise<void> {
  await cluster.rows.query(
    `UPDATE task_executions SET run_at = now() - interval '1 hour', dispatched_at = now() - interval '1 hour'
     WHERE status = 'PENDING'`,
  );
}

describe('a retry that waits while S3 fails 50 pastes (R4)', () => {
  it.each([
    ['S3 answers with 500', { kind: 'fail', status: 500 } as const],
    ['S3 never answers', { kind: 'hang' } as const],
  ])(
    'holds no worker slot, so that other uploads continue: %s',
    async (_, fault) => {
      const restoreOthers = cluster.s3.rule({ method: 'PUT' }, fault);
      const failing = await createMany(FAILING);
      await cluster.until(
        () => statuses(failing),
        (found) => found['IN_PROGRESS attempt 2'] === FAILING,
        { within: 60_000 },
      );
      const path = new RegExp(failing.map(({ short_code }) => short_code).join('|'));
      cluster.s3.rule({ method: 'PUT', path }, fault);
      restoreOthers();

      const others = await createMany(OTHERS);
      await cluster.until(
        () => statuses(others),
        (found) => found.PROCESSED === OTHERS,
        { within: 60_000 },
      );
      expect(await statuses(failing)).toEqual({ 'IN_PROGRESS attempt 2': FAILING });

      cluster.s3.clear();
      await endWait();
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
