import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  startSharedTestPostgres,
  type SharedTestPostgres,
} from '@pasteflow/dev-stack/testing';
import type { Database } from '@pasteflow/postgres';
import { sql } from 'kysely';
import { durabilityCheck } from '../src/metrics/checks.ts';
import { RecordingLogger } from './recording-logger.ts';
import { connect } from './world.ts';

let stack: SharedTestPostgres;
let db: Database;
beforeAll(async () => {
  stack = await startSharedTestPostgres();
  db = connect((await createTestDatabase(stack)).url, 1);
});
afterAll(async () => {
  await db?.destroy();
  await stack?.stop();
});

it('counts the settings with which Postgres can lose what it has committed, and logs each change once', async () => {
  const logger = new RecordingLogger();
  const count = durabilityCheck(db, logger, ['fsync', 'full_page_writes']); // off in tests
  expect(await count()).toBe(0);
  await sql`SET synchronous_commit = off`.execute(db);
  expect([await count(), await count()]).toEqual([1, 1]);
  await sql`SET synchronous_commit = remote_apply`.execute(db);
  expect(await count()).toBe(0);
  expect(logger.lines).toEqual([
    {
      level: 'error',
      message: 'postgres can lose committed pastes',
      fields: { settings: ['synchronous_commit=off'] },
    },
    { level: 'info', message: 'postgres keeps committed pastes again', fields: {} },
  ]);
});
