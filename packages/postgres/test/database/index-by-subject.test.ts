import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createTestDatabase, startTestStack, type TestStack } from '@pasteflow/dev-stack/testing';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { migrate, type Database } from '../../src/index.ts';
import { migrations } from '../../src/migrations/all.ts';
import { makePastes } from '../../src/testing/index.ts';
import { open } from '../support/database.ts';

let stack: TestStack;
let db: Database;
let other: Database;
beforeAll(async () => {
  stack = await startTestStack();
});
beforeEach(async () => {
  const { url } = await createTestDatabase(stack, { migrated: false });
  [db, other] = [open(url), open(url)];
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });
  expect((await migrator.migrateTo('0031-parents')).error).toBeUndefined();
});
afterAll(() => stack?.stop());

const indexes = async (): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'task_executions'::regclass AND indisvalid`.execute(
    db,
  );
  return rows.map(({ name }) => name);
};
const insert = (subject: string, kind: string) =>
  sql`INSERT INTO task_executions (kind, subject_id, attempt) VALUES (${kind}, ${subject}::uuid, 1)`.execute(
    db,
  );

/** Not by createPaste, which names columns of later migrations. */
const makePaste = async () => (await makePastes(db, 1, { status: 'IN_PROGRESS' }))[0]!;

async function closeAll(): Promise<void> {
  await db.destroy();
  await other.destroy();
}

it('the index is built while another connection writes, by one of two processes, and replaces both others', async () => {
  const { id } = await makePaste();
  const build = migrations['0032-one-index-by-subject']!.before!;
  const writing = await other.startTransaction().execute();
  await sql`LOCK TABLE task_executions IN ROW EXCLUSIVE MODE`.execute(writing);
  const built = Promise.all([build(db), build(db)]);
  const started = sql`SELECT FROM pg_index WHERE indexrelid = to_regclass('task_executions_of_subject')`;
  while ((await started.execute(db)).rows.length === 0);
  // The build waits for the writer, and no write waits for the build.
  await makePaste();
  await writing.commit().execute();
  await built;
  await migrate(db);
  const names = await indexes();
  expect(names).toContain('task_executions_of_subject');
  expect(names).not.toContain('task_executions_open');
  expect(names).not.toContain('task_executions_subject');
  await expect(insert(id, 'upload')).rejects.toMatchObject({ code: '23505' });
  await insert(id, 'job');
  await closeAll();
});

it('a build that was cut off is repeated', async () => {
  await makePaste();
  const writing = await other.startTransaction().execute();
  await sql`LOCK TABLE task_executions IN ROW EXCLUSIVE MODE`.execute(writing);
  const build = sql`CREATE UNIQUE INDEX CONCURRENTLY task_executions_of_subject ON task_executions (id)`;
  const cut = db.connection().execute(async (connection) => {
    await sql`SET statement_timeout = 200`.execute(connection);
    try {
      await build.execute(connection);
    } finally {
      await sql`RESET statement_timeout`.execute(connection);
    }
  });
  await expect(cut).rejects.toThrow();
  await writing.rollback().execute();
  expect(await indexes()).not.toContain('task_executions_of_subject');
  await migrate(db);
  const { rows } = await sql<{ definition: string }>`
    SELECT pg_get_indexdef('task_executions_of_subject'::regclass) AS definition`.execute(db);
  expect(rows[0]!.definition).toContain('subject_id');
  expect(await indexes()).toContain('task_executions_of_subject');
  await closeAll();
});

it('a paste may have any number of ended executions', async () => {
  await migrate(db);
  const { id } = await makePaste();
  for (let n = 0; n < 3; n++) {
    await sql`UPDATE task_executions SET status = 'RUNNING', worker_id = 'w', started_at = now(), lease_expires_at = now() WHERE finished_at IS NULL`.execute(
      db,
    );
    await expect(insert(id, 'upload')).rejects.toMatchObject({ code: '23505' });
    await sql`UPDATE task_executions SET status = 'SUCCEEDED', finished_at = '2026-01-01', lease_expires_at = NULL WHERE finished_at IS NULL`.execute(
      db,
    );
    await insert(id, 'upload');
  }
  await closeAll();
});
