import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { StackProcess, startCluster, type Cluster } from '../src/index.ts';

let cluster: Cluster<StackProcess>;
beforeAll(async () => {
  cluster = await startCluster({
    stack: await StackProcess.start(),
    workers: 2,
    env: {
      CLEANUP_INTERVAL_SECONDS: '0.2',
      // A claim is stuck after two hours; its clock can't be moved for claims that are yet to be made.
      DELETION_STUCK_AFTER_SECONDS: '5',
      DELETION_WATCHDOG_INTERVAL_SECONDS: '1',
    },
  });
});
afterAll(() => cluster.stop(), 30_000);

interface Pasted {
  readonly content: Buffer;
  /** Undefined when there was no 201. */
  readonly code: string | undefined;
  /** As far as the client knows; undefined: it asked for the deletion and has no answer. */
  readonly deleted: boolean | undefined;
}

/** Small and inline, or large and by its payload row; every fifth is deleted at once. */
async function pasteSomething(n: number): Promise<Pasted> {
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
  cluster.s3.rule({ method: 'PUT' }, { kind: 'delay', ms: 200 }); // so that puts are under way at any moment
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

  await Promise.all(cluster.services.map((service) => service.start()));
  await cluster.expectQuiet({ within: 60_000 });
  expect(answered.length).toBeGreaterThanOrEqual(40);
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
