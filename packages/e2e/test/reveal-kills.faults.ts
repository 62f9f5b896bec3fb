import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster;
let locking: Client;
beforeAll(async () => {
  cluster = await startCluster({ apis: 2, env: { CLEANUP_INTERVAL_SECONDS: '1' } });
  locking = new Client({ connectionString: cluster.stack.databaseUrl });
  await locking.connect();
});
afterEach(() => cluster.s3.clear());
afterAll(async () => {
  await locking?.end();
  await cluster?.stop();
});

async function secret(content = 'the secret'): Promise<string> {
  const { short_code: code } = await cluster.client().pastes.create(Buffer.from(content), { burn: true });
  await cluster.untilStatus(code, 'PROCESSED');
  return code;
}

const reveal = (code: string, api: number) => cluster.http(api).request(`/${code}`, { method: 'POST' });
/** What the reader has got, or null when the connection broke. */
const received = (code: string, api: number) =>
  reveal(code, api)
    .then(async (answer) => `${answer.status} ${await answer.text()}`)
    .catch(() => null);

/** The object goes as soon as its reader has had five minutes. */
async function expectRemoved(code: string): Promise<void> {
  await cluster.rows.query(
    `UPDATE pastes SET deletion_initiated_at = now() - interval '301 seconds' WHERE short_code = $1`,
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

  it('reveals nothing a second time when its process is killed after the claim', async () => {
    const code = await secret();
    await locking.query('BEGIN');
    await locking.query('SELECT FROM pastes WHERE short_code = $1 FOR UPDATE', [code]);
    const reading = received(code, 0);
    await cluster.until(
      () =>
        cluster.rows.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE '%reveal_paste%' AND wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length === 1,
    );
    await cluster.apis[0]!.kill();
    await locking.query('ROLLBACK'); // Postgres goes on with the statement of the process that is gone
    expect(await reading).toBeNull();
    await cluster.until(
      () =>
        cluster.rows.query<{ burned: boolean }>(
          'SELECT burned_at IS NOT NULL AS burned FROM pastes WHERE short_code = $1',
          [code],
        ),
      ([row]) => row?.burned === true,
    );
    expect(await received(code, 1)).toMatch(/^410 /);
    await cluster.apis[0]!.start();
    expect(await received(code, 0)).toMatch(/^410 /);
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
});
