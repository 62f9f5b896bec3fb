import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { HeldRequest } from '@pasteflow/dev-stack/testing';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({
    apis: 0,
    workers: 0,
    janitors: 3,
    env: { SWEEP_INTERVALS: 'cleanup=0.5' },
  });
});
afterAll(() => cluster.stop());

const COUNT = 5000;
const anyDeletion = { method: 'POST', path: /\?delete/ };

it('deletes each of 5,000 expired pastes once, with at most 1000 keys in a request, in three janitors at the same time', async () => {
  const keys = Array.from({ length: COUNT }, (_, n) => `pastes/expired${String(n).padStart(5, '0')}`);
  await cluster.bucket.fill(keys.map((key) => [key, Buffer.from('x')]));
  let next = cluster.s3.hold(anyDeletion);
  await insertExpired();

  // The lock of the sweep only saves work: a janitor that loses the lock continues, beside the next holder of
  // the lock.
  const held: HeldRequest[] = [];
  for (;;) {
    held.push(await next);
    if (held.length === 3) break;
    next = cluster.s3.hold(anyDeletion);
    await changeLeaderUntil(next);
  }
  const claimants = await cluster.rows.query<{ claimed: number }>(
    `SELECT count(*)::int AS claimed FROM state_transitions
     WHERE machine = 'paste_deletion' AND "to" = 'DELETION_IN_PROGRESS' GROUP BY actor`,
  );
  expect(claimants).toEqual(Array(3).fill({ claimed: 1000 }));
  for (const call of held) await call.forward();

  await cluster.until(
    () => cluster.rows.query(`SELECT count(*)::int FROM pastes WHERE deletion_status = 'DELETED'`),
    ([row]) => row!.count === COUNT,
    { within: 60_000 },
  );
  const deletions = cluster.s3.matching(anyDeletion).map(({ body }) => keysIn(body));
  expect(Math.max(...deletions.map(({ length }) => length))).toBeLessThanOrEqual(1000);
  expect(deletions.flat().toSorted()).toEqual(keys.toSorted());
  expect(await cluster.bucket.keys()).toEqual([]);
  await cluster.expectQuiet();
});

/** Inserts pastes that were uploaded and expired long ago. */
async function insertExpired(): Promise<void> {
  await cluster.rows.query(
    `INSERT INTO pastes (short_code, content_hash, size_bytes, created_at)
     SELECT 'expired' || lpad(n::text, 5, '0'), 'sha256:' || repeat('0', 64), 1, now() - interval '2 days'
     FROM generate_series(0, $1 - 1) AS n`,
    [COUNT],
  );
  await cluster.rows.query(
    `UPDATE pastes SET status = 'PROCESSED', s3_url = $1 || short_code,
       processed_at = now() - interval '2 days', expires_at = now() - interval '1 day'`,
    [`s3://${cluster.bucket.name}/pastes/`],
  );
}

/** Ends the connection that holds the lock of the leader, again and again: any of the others may follow. */
async function changeLeaderUntil(next: Promise<unknown>): Promise<void> {
  let isNext = false;
  void next.then(() => (isNext = true));
  await cluster.until(
    async () => {
      if (isNext) return true;
      await cluster.rows.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         WHERE locktype = 'advisory' AND classid = hashtext('pasteflow.sweep')::oid AND objid = hashtext('leader')::oid AND granted`,
      );
      return isNext;
    },
    (done) => done,
    { within: 120_000 },
  );
}

function keysIn(body: Buffer | undefined): string[] {
  return [...(body?.toString() ?? '').matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
}
