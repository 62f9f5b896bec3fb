import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { useDatabase } from '../support/database.ts';

const current = useDatabase();

it('tests run on the requested major version', async () => {
  const { rows } = await sql<{ server_version_num: string }>`SHOW server_version_num`.execute(current.db);
  const asked = /postgres-(\d+)\./.exec(process.env.TEST_POSTGRES_FROM ?? 'postgres-18.')?.[1];
  expect(Math.floor(Number(rows[0]?.server_version_num) / 10_000)).toBe(Number(asked));
});
