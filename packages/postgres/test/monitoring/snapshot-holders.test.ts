import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { urlOfService } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Client } from 'pg';
import { findSnapshotHolders, type Database } from '../../src/index.ts';
import { open, useOwnServer } from '../support/database.ts';

const current = useOwnServer();
let janitor: Database;
let culprit: Client;
beforeEach(async () => {
  janitor = open(urlOfService(current.url, 'janitor'));
  culprit = await connect('psql');
});
afterEach(async () => {
  await culprit.end();
  await janitor.destroy();
});

async function connect(name: string): Promise<Client> {
  const client = new Client({ connectionString: current.url, application_name: name });
  await client.connect();
  return client;
}

const pidOf = async (client: Client): Promise<number> =>
  ((await client.query('SELECT pg_backend_pid() AS pid')).rows as { pid: number }[])[0]!.pid;

it('names the idle transaction of another role, which has a snapshot or has written', async () => {
  const pid = await pidOf(culprit);
  const writer = await connect('');
  for (const [client, statement] of [
    [culprit, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1'],
    [writer, `BEGIN; INSERT INTO users (name) VALUES ('somebody')`],
  ] as const)
    await client.query(statement);
  const holders = await findSnapshotHolders(janitor);
  expect(holders).toContainEqual({
    kind: 'session',
    name: 'psql',
    pid,
    keeps: expect.stringMatching(/^\d+$/),
  });
  expect(holders).toContainEqual({
    kind: 'session',
    name: 'postgres', // the user of a session without a name
    pid: await pidOf(writer),
    keeps: expect.stringMatching(/^\d+$/),
  });
  // However much others write meanwhile.
  await sql`INSERT INTO users (name) VALUES ('another')`.execute(current.db);
  expect(await findSnapshotHolders(janitor)).toEqual(expect.arrayContaining([...holders]));
  await culprit.query('ROLLBACK');
  await writer.end();
  expect((await findSnapshotHolders(janitor)).filter((holder) => holder.pid === pid)).toEqual([]);
});

it('names a prepared transaction, and a replication slot that nobody reads', async () => {
  await sql`ALTER SYSTEM SET max_prepared_transactions = 1`.execute(current.db);
  await Promise.all([janitor.destroy(), culprit.end()]);
  await current.stack.restartPostgres();
  janitor = open(urlOfService(current.url, 'janitor'));
  culprit = await connect('psql');
  await culprit.query(`BEGIN; INSERT INTO users (name) VALUES ('somebody'); PREPARE TRANSACTION 'forgotten'`);
  await culprit.query(`SELECT pg_create_physical_replication_slot('old_replica', true)`);
  expect(await findSnapshotHolders(janitor)).toEqual([
    { kind: 'prepared_transaction', name: 'forgotten', pid: null, keeps: expect.stringMatching(/^\d+$/) },
    { kind: 'slot', name: 'old_replica', pid: null, keeps: expect.stringMatching(/^\w+\/\w+$/) },
  ]);
  await culprit.query(`ROLLBACK PREPARED 'forgotten'`);
  await culprit.query(`SELECT pg_drop_replication_slot('old_replica')`);
  expect(await findSnapshotHolders(janitor)).toEqual([]);
});
