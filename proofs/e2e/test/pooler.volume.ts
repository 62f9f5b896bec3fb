import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { urlOfService } from '@pasteflow/dev-stack/testing';
import { isPgbouncerRequired, Pgbouncer, startCluster, type Cluster } from '../src/index.ts';

/** More than the pooler has connections for a service. */
const PASTES = 30;

(isPgbouncerRequired() ? describe : describe.skip)('behind a PgBouncer in transaction mode', () => {
  let cluster: Cluster;
  let pooler: Pgbouncer;
  beforeAll(async () => {
    cluster = await startCluster({ apis: 0, workers: 0 });
    const { databaseUrl } = cluster.stack;
    pooler = await Pgbouncer.start(
      (['api', 'upload-worker'] as const).map((service) => urlOfService(databaseUrl, service)),
    );
  });
  afterAll(async () => {
    await cluster?.stop();
    await pooler?.stop();
  });

  /** An api and a worker that reach Postgres through the pooler. @returns the index of the api */
  async function addServices(preparedStatements: 'on' | 'off'): Promise<number> {
    for (const service of ['api', 'upload-worker'] as const)
      await cluster.add(service, {
        DATABASE_URL: pooler.through(urlOfService(cluster.stack.databaseUrl, service)),
        PREPARED_STATEMENTS: preparedStatements,
      });
    return cluster.apis.length - 1;
  }

  async function expectStored(api: number, shortCodes: readonly string[], contents: readonly string[]) {
    for (const code of shortCodes) await cluster.untilStatus(code, 'PROCESSED');
    const reads = await Promise.all(shortCodes.map((code) => cluster.http(api).read(code)));
    expect(reads.map(({ body }) => body.toString())).toEqual(contents);
  }

  it('pastes are created once for each key, stored, read and deleted', async () => {
    const api = await addServices('off');
    const contents = Array.from({ length: PASTES }, (_, n) => `keyed paste ${n}`);
    const create = (content: string) =>
      cluster.client({ api }).pastes.create(content, { idempotencyKey: `key-${content}` });
    const created = await Promise.all(contents.map(create));
    const codes = created.map(({ short_code }) => short_code);
    const again = await Promise.all(contents.map(create));
    expect(again.map(({ short_code }) => short_code)).toEqual(codes);
    await expectStored(api, codes, contents);
    const [{ short_code: code, delete_token: deleteToken } = created[0]!] = created;
    await cluster.client({ api }).pastes.delete(code, { deleteToken });
    expect(await cluster.http(api).read(code)).toMatchObject({ status: 410 });
    await cluster.expectQuiet();
  });

  it('with PREPARED_STATEMENTS=on by mistake, pastes without a key are created, stored and read', async () => {
    const api = await addServices('on');
    const contents = Array.from({ length: PASTES }, (_, n) => `paste ${n}`);
    const answers = await Promise.all(contents.map((content) => cluster.http(api).post(content)));
    expect(answers.map(({ status }) => status)).toEqual(contents.map(() => 201));
    const created = (await Promise.all(answers.map((answer) => answer.json()))) as { short_code: string }[];
    await expectStored(
      api,
      created.map(({ short_code }) => short_code),
      contents,
    );
    await cluster.expectQuiet();
  });
});
