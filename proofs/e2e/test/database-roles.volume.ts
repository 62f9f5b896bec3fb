import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';

const services = ['api', 'upload-worker', 'janitor'] as const;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const isWarning = ({ message }: { readonly message: string }): boolean =>
  message.startsWith('database user may change everything');

it('each service connects as its own role', async () => {
  const users = async (): Promise<readonly string[]> => {
    await cluster.client().pastes.create('content'); // the api connects at a request
    const rows = await cluster.rows.query<{ usename: string }>(
      `SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name ~ '^(api|upload-worker|janitor)/' ORDER BY 1`,
    );
    return rows.map(({ usename }) => usename);
  };
  expect(await cluster.until(users, ({ length }) => length === 3)).toEqual([
    'pasteflow_api',
    'pasteflow_janitor',
    'pasteflow_worker',
  ]);
});

it('each service warns when it connects as a superuser, and works; none warns when it connects as its role', async () => {
  const own = [...cluster.services];
  const privileged: Cluster['services'] = [];
  for (const name of services)
    privileged.push(await cluster.add(name, { DATABASE_URL: cluster.stack.databaseUrl }));
  await Promise.all(own.map((service) => service.stop()));
  await cluster.until(() => privileged.every(({ log }) => log.some(isWarning)));
  for (const { log } of privileged)
    expect(log.find(isWarning)).toMatchObject({
      level: 'warn',
      database_user: 'postgres',
      reason: 'superuser',
    });
  expect(own.flatMap(({ log }) => log.filter(isWarning))).toEqual([]);
  const { short_code: code } = await cluster.client({ api: 1 }).pastes.create('as before');
  await cluster.untilStatus(code, 'PROCESSED');
});
