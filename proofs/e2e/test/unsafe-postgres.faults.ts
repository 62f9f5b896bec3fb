import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnService } from '@pasteflow/dev-stack/testing';
import { entryOf, startCluster, type Cluster } from '../src/index.ts';

const PASTES = 100;
const roles = {
  api: 'pasteflow_api',
  'upload-worker': 'pasteflow_worker',
  janitor: 'pasteflow_janitor',
} as const;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ workers: 0, janitors: 0 });
});
afterAll(() => cluster?.stop());

describe.each(['api', 'upload-worker', 'janitor'] as const)('the %s', (service) => {
  async function refusal(allowed: string) {
    const env = {
      ...cluster.environment(service),
      API_PORT: '0',
      METRICS_PORT: '0',
      ALLOW_POSTGRES_TO_LOSE_DATA: allowed,
    };
    const process = spawnService({ entry: entryOf(service), env });
    await process.waitFor(/"message":"service started"/).catch(() => {}); // ended before that
    const { code } = await process.stop();
    return { code, stderr: process.stderr.filter((line) => !line.startsWith('{')) };
  }

  it('refuses to start on a Postgres that loses pastes when its machine fails', async () => {
    expect(await refusal('')).toEqual({
      code: 78,
      stderr: [
        `${service}: The configuration has 2 problems:`,
        expect.stringMatching(
          /^ {2}Postgres has fsync=off, and can lose pastes .* Set fsync = on for the server\./,
        ),
        expect.stringMatching(
          /^ {2}Postgres has full_page_writes=off, .* ALLOW_POSTGRES_TO_LOSE_DATA=full_page_writes\.$/,
        ),
      ],
    });
  });

  it('refuses to start when Postgres answers its commits before they are written', async () => {
    const role = roles[service];
    await cluster.rows.query(`ALTER ROLE ${role} SET synchronous_commit = off`);
    expect(await refusal('fsync,full_page_writes')).toEqual({
      code: 78,
      stderr: [
        `${service}: The configuration has 1 problem:`,
        expect.stringMatching(`Execute: ALTER ROLE ${role} IN DATABASE .* SET synchronous_commit = 'on'`),
      ],
    });
    await cluster.rows.query(`ALTER ROLE ${role} SET synchronous_commit = on`);
  });
});

it('no paste that was answered 201 is lost by a kill of a Postgres that was set to synchronous_commit=off', async () => {
  await cluster.rows.query(`ALTER SYSTEM SET synchronous_commit = off`);
  await cluster.rows.query(`ALTER SYSTEM SET wal_writer_delay = '10s'`);
  await cluster.rows.query('SELECT pg_reload_conf()');
  await cluster.add('api');
  const create = (n: number) => cluster.client({ api: 1 }).pastes.create(`paste ${n}`);
  const created = await Promise.all(Array.from({ length: PASTES }, (_, n) => create(n)));
  process.kill(cluster.stack.postgresPid, 'SIGKILL');
  await cluster.stack.restartPostgres();
  const kept = await cluster.until(() =>
    cluster.rows.query<{ code: string }>('SELECT short_code AS code FROM pastes').catch(() => undefined),
  );
  expect(kept!.map(({ code }) => code).toSorted()).toEqual(
    created.map(({ short_code: code }) => code).toSorted(),
  );
});
