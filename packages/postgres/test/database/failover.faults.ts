import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  type Standby,
  startStandby,
  startTestPostgres,
  TcpProxy,
  type TestPostgres,
  until,
} from '@pasteflow/dev-stack/testing';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { sql } from 'kysely';
import { findPaste, type Database } from '../../src/index.ts';
import { newPaste, open } from '../support/database.ts';

const CONNECTIONS = 4;
/** So many that each connection has kept its plans, which takes five executions. */
const MANY = CONNECTIONS * 10;

let primary: TestPostgres;
let standby: Standby;
let address: TcpProxy;
let db: Database;
beforeAll(async () => {
  primary = await startTestPostgres();
  const { url } = await createTestDatabase(primary);
  standby = await startStandby(primary.postgres.url);
  address = await TcpProxy.start(primary.postgres.port);
  db = open(address.through(url), CONNECTIONS);
});
afterAll(async () => {
  await db?.destroy();
  await address?.stop();
  await standby?.stop();
  await primary?.stop();
});

const codeOf = (error: unknown): unknown => (((error as Error).cause ?? error) as { code?: string }).code;

it('a pool with prepared statements goes on after a failover to a standby, and loses no paste', async () => {
  const created: string[] = [];
  const errors: unknown[] = [];
  const stop = new AbortController();
  const createAndFind = async (): Promise<void> => {
    const { shortCode } = await newPaste(db);
    created.push(shortCode);
    expect(await findPaste(db, shortCode)).toMatchObject({ short_code: shortCode });
  };
  const lane = async (): Promise<void> => {
    while (!stop.signal.aborted)
      await createAndFind().catch(async (error: unknown) => {
        errors.push(error);
        await sleep(20);
      });
  };
  const lanes = Promise.all(Array.from({ length: CONNECTIONS }, lane));
  try {
    await until(() => created.length >= MANY);
    expect(errors).toEqual([]);

    process.kill(primary.postgres.pid, 'SIGQUIT'); // an immediate shutdown, as a crash
    await address.moveTo(standby.port);
    await until(() => errors.some((error) => codeOf(error) === '25006')); // the standby refuses writes
    await standby.promote();
    const before = created.length;
    await until(() => created.length >= before + MANY);
  } finally {
    stop.abort();
    await lanes;
  }

  for (const error of errors) expect(error).toBeInstanceOf(DependencyUnavailableError);
  for (const shortCode of created)
    expect(await findPaste(db, shortCode)).toMatchObject({ status: 'IN_PROGRESS' });
  const { rows } = await sql<{ plans: number }>`
    SELECT sum(generic_plans)::integer AS plans FROM pg_prepared_statements`.execute(db);
  expect(rows[0]?.plans).toBeGreaterThan(0);
});
