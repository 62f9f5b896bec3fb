import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { join } from 'node:path';
import { ROOT, startCluster, startStack, type Cluster, type Service } from '../src/index.ts';
import { checkOut, lastRelease } from './support/released.ts';
import { UpgradeLoad } from './support/upgrade-load.ts';

const released = lastRelease();

let checkout: Awaited<ReturnType<typeof checkOut>>;
let cluster: Cluster;
let load: UpgradeLoad;
beforeAll(async () => {
  checkout = await checkOut(released);
  const stack = await startStack({ migrated: false });
  await run(oldMigration(), stack.databaseUrl);
  const env = { CLEANUP_INTERVAL_SECONDS: '1', DELETION_WATCHDOG_INTERVAL_SECONDS: '5' }; // the names of the release
  cluster = await startCluster({ stack, env, apis: 0, workers: 0, janitors: 0 });
  const old = { checkout: checkout.folder };
  const names = ['api', 'upload-worker', 'janitor'] as const;
  await Promise.all([...names, ...names].map((name) => cluster.add(name, {}, old)));
  load = new UpgradeLoad(cluster, (await cluster.user('upgrade')).token);
});
afterAll(async () => {
  await cluster?.stop();
  await checkout?.remove();
});

it(`${released} and the current sources work side by side, on the schema of ${released} and on a newer one, and each goes on with the work of the other`, async () => {
  const acts = cluster.load((n) => load.act(n));
  await acted();
  const { databaseUrl } = cluster.stack;
  await run(join(ROOT, 'packages/postgres/test/fixtures/migrate-next.ts'), databaseUrl, [databaseUrl]);
  await expect(run(oldMigration(), cluster.stack.databaseUrl)).rejects.toThrow(
    'a later release has migrated',
  );
  await acted();
  await replaceAll(ROOT, checkout.folder);
  await acted();
  await replaceAll(checkout.folder, ROOT);
  await acted();
  await acts.stop();

  await endClaims();
  await cluster.expectQuiet({ within: 120_000 });
  expect(await load.findBrokenPromises()).toEqual([]);
  expect(await findRepeatedWork()).toEqual([]);
  expect(cluster.services.flatMap(({ log }) => log.filter(isUnexpected))).toEqual([]);
}, 300_000);

const oldMigration = (): string => join(checkout.folder, 'packages/postgres/src/migrate-main.ts');

/** Runs a migration to its end. */
async function run(entry: string, databaseUrl: string, args: string[] = []): Promise<void> {
  const env = { DATABASE_URL: databaseUrl };
  const migration = spawnService({ entry, args, env, name: 'migrate' });
  const { code } = await migration.exited;
  if (code !== 0) throw new Error(`the migration ended with ${code}:\n${migration.stderr.join('\n')}`);
}

/** Waits until all services are ready, and every kind of call has succeeded with them. */
async function acted(): Promise<void> {
  for (const { metricsUrl } of cluster.services)
    await cluster.until(async () => (await fetch(`${metricsUrl}/readyz`)).status === 200);
  const { pastes, jobs } = load.counts;
  await cluster.until(
    () => load.problems.length > 0 || (load.counts.pastes >= pastes + 20 && load.counts.jobs >= jobs + 5),
  );
  expect(load.problems).toEqual([]);
}

/** Half of the services are killed and half of them stopped. In between, both versions run. */
async function replaceAll(to: string, from: string): Promise<void> {
  const pairs = [cluster.apis, cluster.janitors] as const;
  await Promise.all(
    pairs.map(async ([, second]) => {
      await second!.kill();
      await second!.start({ checkout: to });
    }),
  );
  await handOver(to, from);
  await acted();
  await expectHidden();
  await Promise.all(
    [...pairs.map(([first]) => first!), cluster.workers[1]!].map(async (service) => {
      expect(await service.stop()).toMatchObject({ code: 0 });
      await service.start({ checkout: to });
    }),
  );
}

/**
 * Both workers are killed while one of them uploads. A worker of the other version alone goes on with that
 * upload and with all messages, before one of the same version joins it.
 */
async function handOver(to: string, from: string): Promise<void> {
  const [first, second] = cluster.workers as [Service, Service];
  const holding = cluster.s3.hold({ method: 'PUT', path: /\/pastes\// });
  const held = await holding;
  await Promise.all([first.kill(), second.kill()]);
  held.drop();
  const [, code = ''] = /\/pastes\/(\w+)/.exec(held.request.path) ?? [];
  const sent = await load.create(0, `sent to a worker of ${to}`);
  await first.start({ checkout: to });
  for (const each of [code, sent]) await cluster.untilStatus(each, 'PROCESSED');
  const [lost] = await cluster.executions(code);
  expect(lost).toMatchObject({ status: 'FAILED', error: expect.stringMatching('^worker lost') });
  await second.start({ checkout: from });
}

/** A version that does not know pastes for members shows them to nobody but their owner. */
async function expectHidden(): Promise<void> {
  const urls = cluster.apis.map((_, n) => cluster.http(n).url);
  const [owner, member] = [await cluster.user('owner'), await cluster.user('member')];
  const headersOf = (user: { readonly token: string }) => ({ authorization: `Bearer ${user.token}` });
  const made = await Promise.all(
    urls.map(async (url) => {
      const init = { method: 'POST', body: 'for members', headers: headersOf(owner) };
      const response = await fetch(`${url}/v1/pastes?visibility=members`, init);
      return { status: response.status, ...((await response.json()) as { short_code?: string }) };
    }),
  );
  const codes = made.flatMap(({ short_code: code }) => code ?? []);
  expect(codes.length).toBeGreaterThan(0);
  for (const code of codes) {
    await cluster.untilStatus(code, 'PROCESSED');
    for (const url of urls)
      for (const path of [
        `/${code}`,
        `/v1/pastes/${code}`,
        `/v1/pastes/${code}/content`,
        `/${code}/timeline`,
      ]) {
        const statusFor = async (headers: Record<string, string>) =>
          (await fetch(url + path, { headers })).status;
        expect([path, await statusFor({}), await statusFor(headersOf(owner))]).toEqual([path, 404, 200]);
        expect([path, [200, 404].includes(await statusFor(headersOf(member)))]).toEqual([path, true]);
      }
  }
}

/** As if two hours were over: the next cleanups delete what was revealed and what a killed janitor had claimed. */
async function endClaims(): Promise<void> {
  await cluster.rows.query(
    `UPDATE pastes SET deletion_initiated_at = now() - interval '7201 seconds' WHERE deletion_status = 'DELETION_IN_PROGRESS'`,
  );
}

/** Work that has succeeded twice, or has failed in another way than with its process. */
async function findRepeatedWork(): Promise<unknown[]> {
  return await cluster.rows.query(
    `SELECT subject_id, array_agg(status || coalesce(': ' || error, '')) AS executions FROM task_executions
     GROUP BY subject_id HAVING count(*) FILTER (WHERE status = 'SUCCEEDED') <> 1
       OR bool_or(error IS NOT NULL AND error <> 'interrupted' AND error NOT LIKE 'worker lost%')`,
  );
}

/** A janitor of another version than the migration reports the definitions of that version. */
function isUnexpected({ level, message, status }: Service['log'][number]): boolean {
  return status === 500 || (level === 'error' && !message.startsWith('state machines not enforced'));
}
