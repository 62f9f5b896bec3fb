import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { StackProcess, startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster<StackProcess>;
beforeAll(async () => {
  cluster = await startCluster({
    stack: await StackProcess.start(),
    workers: 2,
    env: {
      SWEEP_INTERVALS: 'cleanup=0.2,deletion-watchdog=1',
      MAX_STORED_BYTES: '1000000000', // so that expectQuiet compares the counters with a scan
    },
  });
});
afterAll(() => cluster.stop(), 30_000);

interface PasteOutcome {
  readonly content: Buffer;
  /** Undefined without a 201. */
  readonly code: string | undefined;
  /** Undefined: the client requested the deletion and got no answer. */
  readonly deleted: boolean | undefined;
}

/**
 * Creates a small paste, or every third time one whose content is not inline. Deletes every fifth at once.
 */
async function pasteSomething(n: number): Promise<PasteOutcome> {
  const content = randomBytes(n % 3 === 0 ? 60_000 : 500);
  const client = cluster.client({ retry: false });
  const paste = await client.pastes.create(content).catch(() => undefined);
  if (paste === undefined) return { content, code: undefined, deleted: false };
  const { short_code: code, delete_token: deleteToken } = paste;
  if (n % 5 > 0) return { content, code, deleted: false };
  const deleted = await client.pastes.delete(code, { deleteToken }).then(
    () => true,
    () => undefined,
  );
  return { content, code, deleted };
}

it('keeps every paste that was answered 201 when all services and the stack are killed at once, under load', async () => {
  cluster.s3.rule({ method: 'PUT' }, { kind: 'delay', ms: 200 }); // so that there are puts in progress at any time
  const load = cluster.load(pasteSomething, { lanes: 6 });
  await cluster.until(
    () => cluster.rows.query(`SELECT count(*)::int FROM pastes WHERE status = 'PROCESSED'`),
    ([row]) => row!.count >= 40,
  );
  await Promise.all([cluster.stack.kill(), ...cluster.services.map((service) => service.kill())]);
  const answered = (await load.stop()).filter(({ code }) => code !== undefined);
  await cluster.stack.start();
  const [open] = await cluster.rows.query<{ count: number }>(
    `SELECT count(*)::int FROM task_executions WHERE status IN ('PENDING', 'RUNNING')`,
  );
  expect(open!.count).toBeGreaterThan(0);
  // As if two hours were over, after which the watchdog releases what the killed janitor had claimed.
  await cluster.rows.query(
    `UPDATE pastes SET deletion_initiated_at = now() - interval '7201 seconds' WHERE deletion_status = 'DELETION_IN_PROGRESS'`,
  );

  await Promise.all(cluster.services.map((service) => service.start()));
  await cluster.expectQuiet({ within: 60_000 });
  expect(answered.length).toBeGreaterThanOrEqual(40);
  const [stored] = await cluster.rows.query(`SELECT sum(pastes)::int AS count FROM stored_usage`);
  expect(stored!.count).toBeGreaterThanOrEqual(answered.filter(({ deleted }) => deleted === false).length);
  for (const { content, code = '', deleted } of answered) {
    const { status, body } = await cluster.http().read(code);
    if (deleted !== false && status === 410) continue;
    expect({ code, status, bytes: body.toString('hex') }).toEqual({
      code,
      status: deleted === true ? 410 : 200,
      bytes: content.toString('hex'),
    });
  }
});
