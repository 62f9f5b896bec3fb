import { randomBytes } from 'node:crypto';
import { afterAll, expect, it } from '@jest/globals';
import { SmallDisk, startCluster, startStack, type Cluster } from '../src/index.ts';

/** A migrated cluster takes 48 MiB, and its database 10. */
const DISK_MIB = 192;

const disk = await SmallDisk.mount(DISK_MIB);
let cluster: Cluster | undefined;
afterAll(async () => {
  await cluster?.stop();
  await disk?.unmount();
});

interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: { readonly short_code: string; readonly code: string };
}

async function create(running: Cluster, content: Buffer): Promise<Answered> {
  const response = await running.http().post(content);
  const body = (await response.json()) as Answered['body'];
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

/** Postgres ends when it cannot write its log; then somebody starts it again, once there is room. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const describeIt = disk === null ? it.skip : it;

describeIt(
  'a full disk of Postgres makes creations fail with 503; nothing that was answered 201 is lost, and all goes on when there is room again',
  async () => {
    const stack = await startStack({ postgresIn: disk!.folder });
    cluster = await startCluster({ stack, env: { DATABASE_URL: stack.databaseUrl } });
    const running = cluster;
    const created = new Map<string, Buffer>();
    const refusals: Answered[] = [];
    /** Until so many were refused. Long contents fill pages of tables, and short ones the log of Postgres. */
    const createUntilRefused = async (count: number, bytes: number) => {
      for (const until = refusals.length + count; refusals.length < until;) {
        const content = randomBytes(bytes);
        const answer = await create(running, content);
        if (answer.status === 201) created.set(answer.body.short_code, content);
        else refusals.push(answer);
      }
    };

    for (let n = 0; n < 5; n += 1) {
      const content = randomBytes(1000);
      created.set((await create(running, content)).body.short_code, content);
    }
    await disk!.fill();
    await createUntilRefused(10, 60_000);
    const inLongRefusals = created.size;
    await createUntilRefused(10, 300);
    expect(inLongRefusals).toBeGreaterThanOrEqual(5);
    for (const { status, retryAfter, body } of refusals)
      expect([status, retryAfter, body.code]).toEqual([503, '1', 'dependency_unavailable']);
    expect((await fetch(`${running.http().url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${running.http().url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200, // reads go on
      { checks: { postgres_writes: { state: 'failed', required: false } } },
    ]);

    await disk!.empty();
    if (!isAlive(stack.postgresPid)) await stack.restartPostgres();
    const content = randomBytes(60_000);
    const { body } = await running.until(
      () => create(running, content),
      ({ status }) => status === 201,
    );
    created.set(body.short_code, content);
    for (const [code, bytes] of created) {
      await running.untilStatus(code, 'PROCESSED', { within: 120_000 });
      expect((await running.http().read(code)).body.equals(bytes)).toBe(true);
    }
    await running.expectQuiet({ within: 120_000 });
  },
  300_000,
);
