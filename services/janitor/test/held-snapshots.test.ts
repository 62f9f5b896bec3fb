import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import type { Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { heldSnapshots } from '../src/metrics/checks.ts';
import { RecordingLogger } from './recording-logger.ts';
import { connect } from './world.ts';

let stack: TestPostgres;
let db: Database;
beforeAll(async () => {
  stack = await startTestPostgres();
  db = connect((await createTestDatabase(stack)).url, 4);
});
afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

it('tells how long a snapshot has been held, with its holder after a minute, and logs the holder once after ten', async () => {
  let nowMs = 1_000_000;
  const logger = new RecordingLogger();
  const read = heldSnapshots(db, logger, () => nowMs);
  const after = async (seconds: number) => {
    nowMs += seconds * 1000;
    const found = (await read()).filter(({ name }) => name !== '');
    return found.map((each) => `${each.kind} ${each.name} ${each.seconds}`);
  };
  const idle = await db.startTransaction().setIsolationLevel('repeatable read').execute();
  const { rows } = await sql<{ pid: number; name: string }>`
    SELECT pg_backend_pid() AS pid, current_setting('application_name') AS name`.execute(idle);
  const { pid, name } = rows[0]!;
  await sql`SELECT pg_create_physical_replication_slot('old_replica', true)`.execute(db);
  expect([await after(0), await after(59)]).toEqual([[], []]);
  expect(await after(1)).toEqual([`session ${name} 60`, 'slot old_replica 60']);
  expect([await read(), logger.lines]).toEqual([
    [
      { kind: 'session', name, seconds: 60 },
      { kind: 'prepared_transaction', name: '', seconds: 0 },
      { kind: 'slot', name: 'old_replica', seconds: 60 },
      { kind: 'standby', name: '', seconds: 0 },
    ],
    [],
  ]);
  await sql`SELECT pg_replication_slot_advance('old_replica', pg_current_wal_lsn())`.execute(db);
  expect([await after(540), await after(60)]).toEqual([
    [`session ${name} 600`],
    [`session ${name} 660`, 'slot old_replica 60'],
  ]);
  expect(logger.lines).toEqual([
    { level: 'warn', message: 'old snapshot held', fields: { holder: 'session', name, pid } },
  ]);
  await idle.commit().execute();
  expect(await after(1)).toEqual(['slot old_replica 61']);
});
