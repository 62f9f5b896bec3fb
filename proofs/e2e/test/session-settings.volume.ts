import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { urlOfService, metricOf } from '@pasteflow/dev-stack/testing';
import { isPgbouncerRequired, Pgbouncer, startCluster, type Cluster } from '../src/index.ts';

const PASTES = 10;

/** What the statements of the services don't expect, and what they do. */
const settings = [
  ['DateStyle', 'German', 'ISO'],
  ['IntervalStyle', 'sql_standard', 'postgres'],
  ['TimeZone', 'Asia/Kolkata', 'UTC'],
  ['extra_float_digits', '-15', '1'],
  ['standard_conforming_strings', 'off', 'on'],
  ['bytea_output', 'escape', 'hex'],
  ['array_nulls', 'off', 'on'],
  ['quote_all_identifiers', 'on', 'off'],
  ['default_transaction_isolation', 'serializable', 'read committed'],
  ['search_path', 'other', 'public'],
] as const;

describe('in a database with other settings for its sessions', () => {
  let cluster: Cluster;
  let pooler: Pgbouncer | undefined;
  beforeAll(async () => {
    cluster = await startCluster({
      apis: 0,
      workers: 0,
      janitors: 0,
      env: { SWEEP_INTERVALS: 'cleanup=1' },
    });
    const { databaseUrl } = cluster.stack;
    const database = new URL(databaseUrl).pathname.slice(1);
    for (const [name, hostile, usual] of settings) {
      await cluster.rows.query(`ALTER ROLE postgres SET ${name} = '${usual}'`); // the connections of this test
      await cluster.rows.query(`ALTER DATABASE ${database} SET ${name} = '${hostile}'`);
    }
    if (isPgbouncerRequired())
      pooler = await Pgbouncer.start(
        (['api', 'upload-worker'] as const).map((service) => urlOfService(databaseUrl, service)),
      );
    await cluster.add('janitor', { SWEEP_INTERVALS: 'cleanup=1,state-metrics=1' });
  });
  afterAll(async () => {
    await cluster?.stop();
    await pooler?.stop();
  });

  /** @returns the index of the api */
  async function addServices(through: (url: string) => string): Promise<number> {
    for (const service of ['api', 'upload-worker'] as const)
      await cluster.add(service, {
        DATABASE_URL: through(urlOfService(cluster.stack.databaseUrl, service)),
        PREPARED_STATEMENTS: 'off',
      });
    return cluster.apis.length - 1;
  }

  async function expectWork(api: number): Promise<void> {
    const contents = Array.from({ length: PASTES }, (_, n) => `paste ${n} of ${api}`);
    const created = await Promise.all(
      contents.map((content) =>
        cluster.client({ api }).pastes.create(content, { idempotencyKey: `key-${content}` }),
      ),
    );
    for (const { short_code: code } of created) await cluster.untilStatus(code, 'PROCESSED');
    const reads = await Promise.all(created.map(({ short_code: code }) => cluster.http(api).read(code)));
    expect(reads.map(({ body }) => body.toString())).toEqual(contents);
    const [{ short_code: code, delete_token: deleteToken } = created[0]!] = created;
    await cluster.client({ api }).pastes.delete(code, { deleteToken });
    await cluster.until(
      () => cluster.paste(code),
      ({ deletion_status: status }) => status === 'DELETED',
    );
    await cluster.expectQuiet();
    await cluster.until(
      () =>
        metricOf(cluster.janitors[0]!, 'pasteflow_transitions_total', {
          from: 'IN_PROGRESS',
          machine: 'paste_upload',
          to: 'PROCESSED',
        }),
      (value) => value === PASTES * (api + 1),
    );
  }

  it('pastes are created, stored, read, deleted and counted', async () => {
    await expectWork(await addServices((url) => url));
  });

  (isPgbouncerRequired() ? it : it.skip)(
    'pastes are created, stored, read, deleted and counted through a PgBouncer in transaction mode',
    async () => {
      await expectWork(await addServices((url) => pooler!.through(url)));
    },
  );
});
