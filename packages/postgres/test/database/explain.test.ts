import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, startTestPostgres, type TestPostgres } from '@pasteflow/dev-stack/testing';
import { sql, type RawBuilder } from 'kysely';
import { open } from '../support/database.ts';
import { explain } from '../support/explain.ts';

let stack: TestPostgres;
let url: string;
beforeAll(async () => {
  stack = await startTestPostgres();
  ({ url } = await createTestDatabase(stack));
  const db = open(url, 1);
  await sql`CREATE TABLE numbers (id integer PRIMARY KEY, value text)`.execute(db);
  await sql`INSERT INTO numbers SELECT n, repeat('x', 1000) FROM generate_series(1, 700) n`.execute(db);
  await sql`VACUUM (ANALYZE) numbers`.execute(db);
  await db.destroy();
});
afterAll(() => stack?.stop());

const pagesOf = async (statement: RawBuilder<unknown>) =>
  (await explain(url, (db) => statement.execute(db))).buffers;
const table = sql`SELECT * FROM numbers WHERE value <> 'y'`;
const update = sql`UPDATE numbers SET value = 'y' WHERE id < 50 RETURNING id`;

it.each([
  ['a scan at the top', sql`WITH a AS MATERIALIZED (${table}) SELECT * FROM a`],
  ['a scan below', sql`WITH a AS MATERIALIZED (${table}) SELECT count(*) FROM a`],
  [
    'two scans',
    sql`WITH a AS MATERIALIZED (${table}) SELECT count(*) FROM a WHERE id > (SELECT avg(id) FROM a)`,
  ],
  [
    'a scan in another CTE',
    sql`WITH a AS MATERIALIZED (${table}), b AS MATERIALIZED (SELECT * FROM a) SELECT count(*) FROM b`,
  ],
])('the pages of a CTE count once with %s', async (_, statement) => {
  expect(await pagesOf(statement)).toBe(await pagesOf(table));
});

it.each([
  ['whose rows are read', sql`WITH changed AS (${update}) SELECT count(*) FROM changed`],
  ['whose rows nobody reads', sql`WITH changed AS (${update}) SELECT 1`],
])('the pages of a CTE that writes, %s, count once', async (_, statement) => {
  expect(await pagesOf(statement)).toBe(await pagesOf(update));
});
