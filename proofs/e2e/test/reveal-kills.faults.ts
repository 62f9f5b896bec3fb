import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ apis: 2, env: { SWEEP_INTERVALS: 'cleanup=1' } });
});
afterEach(() => cluster.s3.clear());
afterAll(async () => {
  await cluster?.stop();
});

/** As a client waits before it asks again. */
const TRY_AGAIN_AFTER_MS = 100;

/** Fewer than the connections of one api. */
const LOST_CLAIMS = 4;

async function secret(content = 'the secret'): Promise<string> {
  const { short_code: code } = await cluster.client().pastes.create(Buffer.from(content), { burn: true });
  await cluster.untilStatus(code, 'PROCESSED');
  return code;
}

/** What the reader has got, or null when the connection broke. */
const received = (code: string, api: number, key?: string) =>
  cluster
    .http(api)
    .request(`/${code}`, { method: 'POST', headers: key === undefined ? {} : { 'idempotency-key': key } })
    .then(async (answer) => `${answer.status} ${await answer.text()}`)
    .catch(() => null);

/** The object goes a minute after its reader has had five minutes. */
async function expectRemoved(code: string): Promise<void> {
  await cluster.rows.query(
    `UPDATE pastes SET deletion_initiated_at = now() - interval '361 seconds' WHERE short_code = $1`,
    [code],
  );
  await cluster.until(
    () => cluster.paste(code),
    (paste) => paste.deletion_status === 'DELETED',
  );
  await cluster.expectQuiet();
}

describe('a reveal', () => {
  it('deletes nothing when its process is killed before the claim', async () => {
    const code = await secret();
    const holding = cluster.s3.hold({ method: 'GET', path: cluster.objectPath(code) });
    const reading = received(code, 0);
    const held = await holding;
    await cluster.apis[0]!.kill();
    held.drop();
    expect(await reading).toBeNull();
    expect(await received(code, 1)).toBe('200 the secret');
    await cluster.apis[0]!.start();
    await expectRemoved(code);
  });

  it('is repeated at another process by its reader, and by nobody else, when its process is killed after the claim', async () => {
    const code = await secret();
    const locking = new Client({ connectionString: cluster.stack.databaseUrl });
    await locking.connect();
    await locking.query('BEGIN');
    await locking.query('SELECT FROM pastes WHERE short_code = $1 FOR UPDATE', [code]);
    const reading = received(code, 0, 'the key of the reader');
    await cluster.until(
      () =>
        cluster.rows.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE '%reveal_paste%' AND wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length === 1,
    );
    await cluster.apis[0]!.kill();
    await locking.end(); // Postgres goes on with the statement of the process that is gone
    expect(await reading).toBeNull();
    await cluster.until(
      () =>
        cluster.rows.query<{ burned: boolean }>(
          'SELECT burned_at IS NOT NULL AS burned FROM pastes WHERE short_code = $1',
          [code],
        ),
      ([row]) => row?.burned === true,
    );
    expect(await received(code, 1, 'the key of another reader')).toMatch(/^410 /);
    expect(await received(code, 1, 'the key of the reader')).toBe('200 the secret');
    await cluster.apis[0]!.start();
    expect(await received(code, 0)).toMatch(/^410 /);
    expect(await received(code, 0, 'the key of the reader')).toBe('200 the secret');
    await expectRemoved(code);
  });

  it('gives the content to one of 200 readers at two processes, one of which is killed', async () => {
    const content = 'x'.repeat(100_000);
    const code = await secret(content);
    const readings = Array.from({ length: 200 }, (_, n) => received(code, n % 2));
    await Promise.race(readings);
    await cluster.apis[0]!.kill();
    const answers = await Promise.all(readings);
    expect(answers.filter((answer) => answer === `200 ${content}`).length).toBeLessThanOrEqual(1);
    expect(
      answers.filter((answer) => answer?.startsWith('200') === true && answer !== `200 ${content}`),
    ).toEqual([]);
    await cluster.apis[0]!.start();
    const { transitions } = await cluster.client().pastes.timeline(code);
    expect(transitions.filter(({ reason_class }) => reason_class === 'revealed')).toHaveLength(1);
    await expectRemoved(code);
  });

  it('reaches every reader, who repeats it, when Postgres is killed in bursts of reveals', async () => {
    for (let burst = 0; burst < 3; burst += 1) {
      const codes = await Promise.all(Array.from({ length: 50 }, () => secret()));
      const locking = new Client({ connectionString: cluster.stack.databaseUrl });
      await locking.connect();
      await locking.query('BEGIN');
      await locking.query('SELECT FROM pastes WHERE short_code = ANY ($1) ORDER BY id FOR UPDATE', [
        codes.slice(0, LOST_CLAIMS),
      ]);
      const readings = codes.map(async (code, n) => {
        for (;;) {
          const answer = await received(code, n % 2, `the key of the reader of ${code}`);
          if (answer !== null && !/^(429|503) /.test(answer)) return answer;
          await sleep(TRY_AGAIN_AFTER_MS);
        }
      });
      await cluster.until(
        () =>
          cluster.rows.query(
            `SELECT FROM pg_stat_activity WHERE query LIKE '%reveal_paste%' AND wait_event_type = 'Lock'`,
          ),
        (waiting) => waiting.length === LOST_CLAIMS,
      );
      await cluster.postgres.down(); // these claims lose their answers
      await locking.end();
      await cluster.until(
        () =>
          cluster.rows.query('SELECT FROM pastes WHERE short_code = ANY ($1) AND burned_at IS NOT NULL', [
            codes.slice(0, LOST_CLAIMS),
          ]),
        (claimed) => claimed.length === LOST_CLAIMS,
      );
      process.kill(cluster.stack.postgresPid, 'SIGKILL');
      await cluster.stack.restartPostgres();
      await cluster.postgres.up();
      expect(new Set(await Promise.all(readings))).toEqual(new Set(['200 the secret']));
    }
  }, 240_000);
});
