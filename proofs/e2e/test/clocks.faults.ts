import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, isLibfaketimeRequired, startCluster, type User, WrongClock } from '../src/index.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;
const HALF_AN_HOUR = 1800;
const NAMES = ['api', 'upload-worker', 'janitor'] as const;

/** The longest window is an hour. */
const COUNTERS_BEYOND_THEIR_WINDOW = `
  SELECT key FROM rate_limits WHERE expire > (extract(epoch FROM now()) + 3600 + 600) * 1000`;

const describeIt = isLibfaketimeRequired() ? describe : describe.skip;

/** One of each service runs with each of these clocks. */
let clocks: WrongClock[];
let cluster: Cluster;
beforeAll(async () => {
  if (!isLibfaketimeRequired()) return;
  clocks = [await WrongClock.make(HOUR), await WrongClock.make(-HOUR)];
  cluster = await startCluster({
    apis: 0,
    workers: 0,
    janitors: 0,
    env: {
      SWEEP_INTERVALS: 'cleanup=0.5,failed-pastes=1,tombstones=1',
    },
  });
  for (const { env } of clocks) await Promise.all(NAMES.map((name) => cluster.add(name, env)));
}, 240_000);
afterAll(async () => {
  await cluster?.stop();
  for (const clock of clocks ?? []) await clock.remove();
});

/** Sets both clocks and waits until every service sees its own. */
async function setClocks(...aheadMs: readonly number[]): Promise<void> {
  for (const [index, clock] of clocks.entries()) await clock.set(aheadMs[index]!);
  for (const [index, service] of cluster.services.entries()) {
    const clock = clocks[Math.floor(index / NAMES.length)]!;
    await cluster.until(() => clock.isSeenBy(`${service.metricsUrl}/healthz`));
  }
}

describeIt('services whose clocks', () => {
  it.each([
    ['are an hour before and behind that of Postgres', [HOUR, -HOUR], [HOUR, -HOUR]],
    ['step back, and forward, by two hours', [HOUR, -HOUR], [-HOUR, HOUR]],
    ['leap by a year, and back by a year', [0, YEAR], [YEAR, 0]],
  ])(
    '%s while work is open lose nothing, delete nothing early, and leave nothing stuck',
    async (_, before, after) => {
      await setClocks(...before);
      const users = await Promise.all([0, 1].map((api) => cluster.user('ann', { api })));
      const deleted = await users[0]!.pastes.create(randomBytes(300));
      await cluster.untilStatus(deleted.short_code, 'PROCESSED');
      await users[0]!.pastes.delete(deleted.short_code);
      const held = Array.from({ length: 4 }, () => cluster.s3.hold({ method: 'PUT', path: /\/pastes\// }));
      const contents = new Map<string, Buffer>();
      const key = randomUUID();
      const keyed = randomBytes(300);
      for (const { pastes } of users) {
        for (const expires_in of [HALF_AN_HOUR, 'never'] as const) {
          const content = randomBytes(300);
          contents.set((await pastes.create(content, { expires_in })).short_code, content);
        }
        contents.set((await pastes.create(keyed, { idempotencyKey: key })).short_code, keyed);
      }
      expect(contents.size).toBe(5); // both apis answered the key with the same paste
      const imports = users.map(({ jobs }) => importOne(jobs));
      const puts = await Promise.all(held);
      await setClocks(...after);
      for (const put of puts) await put.forward();
      for (const { jobs } of users) imports.push(importOne(jobs));

      for (const { code, expiresAt } of await Promise.all(imports)) {
        const { expires_at } = await users[0]!.pastes.get(code);
        expect(Math.abs(Date.parse(expires_at!) - expiresAt)).toBeLessThan(HOUR / 4);
      }
      await cluster.until(
        () => cluster.paste(deleted.short_code),
        ({ deletion_status: status }) => status === 'DELETED',
      );
      await cluster.expectQuiet({ within: 120_000 });
      for (const api of [0, 1]) {
        for (const [code, content] of contents)
          expect((await cluster.http(api).read(code)).body.equals(content)).toBe(true);
        expect((await cluster.http(api).read(deleted.short_code)).status).toBe(410);
      }
      expect(await cluster.rows.query(COUNTERS_BEYOND_THEIR_WINDOW)).toEqual([]);
    },
    300_000,
  );
});

/** Imports a paste that expires in two hours. */
async function importOne(jobs: User['jobs']): Promise<{ code: string; expiresAt: number }> {
  const expiresAt = Date.now() + 2 * HOUR;
  const items = [{ content: randomUUID(), expires_at: new Date(expiresAt).toISOString() }];
  const {
    id,
    status,
    error_message: error,
  } = await jobs.create({ job_type: 'import', parameters: { items } }, { wait: true });
  expect({ status, error }).toEqual({ status: 'completed', error: null });
  for await (const { url } of jobs.assets(id)) return { code: new URL(url).pathname.slice(1), expiresAt };
  throw new Error('the import made no paste');
}
