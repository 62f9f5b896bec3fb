import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { findTraces, startCluster, type Cluster, type User } from '../src/index.ts';

const mark = (): string => `secret${randomBytes(9).toString('hex')}`;

/** Each with a mark of its own, so that a failure names the leak. */
const secrets = { content: mark(), title: mark(), imported: mark(), idempotencyKey: mark() };
const content = `${secrets.content}\n`.repeat(3);

let cluster: Cluster;
let alice: User;
let logFile: string;
beforeAll(async () => {
  cluster = await startCluster();
  alice = await cluster.user('alice');
  const [row] = await cluster.rows.query<{ folder: string }>(
    `SELECT current_setting('data_directory') AS folder`,
  );
  logFile = join(dirname(row?.folder ?? ''), 'postgres.log');
  // As much as an operator could ask for.
  for (const setting of [
    `log_statement = 'all'`,
    'log_min_duration_statement = 0',
    `log_min_messages = 'info'`,
  ])
    await cluster.rows.query(`ALTER SYSTEM SET ${setting}`);
  await cluster.rows.query('SELECT pg_reload_conf()');
});
afterAll(() => cluster.stop());

async function logLines(): Promise<readonly string[]> {
  return (await readFile(logFile, 'utf8')).split('\n');
}

async function post(path: string, body: object): Promise<number> {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${alice.token}`,
    'idempotency-key': `${secrets.idempotencyKey}${randomBytes(4).toString('hex')}`,
  };
  const { status } = await cluster.http().post(JSON.stringify(body), { path, headers });
  return status;
}

const paste = { content, title: secrets.title, visibility: 'private' };
const job = { job_type: 'import', parameters: { items: [{ content: secrets.imported }] } };

/** Each request fails in Postgres while the constraint exists. */
async function whileRefused(table: string, check: string, request: () => Promise<void>): Promise<void> {
  await cluster.rows.query(`ALTER TABLE ${table} ADD CONSTRAINT refused CHECK (${check}) NOT VALID`);
  await request();
  await cluster.rows.query(`ALTER TABLE ${table} DROP CONSTRAINT refused`);
}

/**
 * The session of the test has the default settings of Postgres, so that the log gets what the services keep
 * out of it.
 */
it('finds the content when the parameters of a statement and the rows of an error are logged', async () => {
  const [control, inRow] = [mark(), mark()];
  const client = new Client({ connectionString: cluster.stack.databaseUrl });
  await client.connect();
  await client.query(`SET log_parameter_max_length = -1; SET log_error_verbosity = 'default'`);
  await client.query('SELECT $1::bytea', [Buffer.from(control)]);
  await client.query('CREATE TEMPORARY TABLE refusing (content text CHECK (false))');
  await expect(client.query('INSERT INTO refusing VALUES ($1)', [inRow])).rejects.toMatchObject({
    code: '23514',
  });
  await client.end();
  expect(findTraces(control, await logLines()).length).toBeGreaterThan(0);
  expect(findTraces(inRow, await logLines()).length).toBeGreaterThan(0);
});

it('has every statement, and nothing of the content, of titles and of keys, whatever fails', async () => {
  expect(await post('/v1/pastes', paste)).toBe(201);
  expect(await post('/v1/pastes', { ...paste, content: content.repeat(500) })).toBe(201); // not inline in the message
  expect(await post('/v1/jobs', job)).toBe(202);
  await cluster.until(
    () => cluster.rows.query(`SELECT FROM pastes WHERE status = 'PROCESSED'`),
    (rows) => rows.length === 3,
  );

  await whileRefused('pastes', 'title IS NULL', async () =>
    expect(await post('/v1/pastes', paste)).toBe(500),
  );
  await whileRefused('paste_payloads', 'false', async () =>
    expect(await post('/v1/pastes', paste)).toBe(500),
  );
  await whileRefused('jobs', `status <> 'queued'`, async () => expect(await post('/v1/jobs', job)).toBe(500));
  await whileRefused('idempotency_keys', 'answer IS NULL', async () =>
    expect(await post('/v1/pastes', paste)).toBe(500),
  );
  const locking = new Client({ connectionString: cluster.stack.databaseUrl });
  await locking.connect();
  await locking.query('BEGIN; LOCK TABLE pastes');
  expect(await post('/v1/pastes', paste)).toBe(503);
  await locking.end();

  const lines = await logLines();
  for (const text of [
    'INSERT INTO paste_payloads',
    'violates check constraint "refused"',
    'canceling statement due to statement timeout',
  ])
    expect({ [text]: lines.some((line) => line.includes(text)) }).toEqual({ [text]: true });
  for (const [name, secret] of Object.entries(secrets))
    expect({ [name]: findTraces(secret, lines) }).toEqual({ [name]: [] });
  const own = cluster.services.flatMap((service) => service.output);
  for (const [name, secret] of Object.entries(secrets))
    expect({ [name]: findTraces(secret, own) }).toEqual({ [name]: [] });
});
