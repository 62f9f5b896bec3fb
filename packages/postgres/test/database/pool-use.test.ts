import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { poolUse } from '../../src/index.ts';
import { open, useDatabase } from '../support/database.ts';
import { untilSomebodyWaits } from '../support/locks.ts';

const current = useDatabase({ fresh: 'file' });

it('a pool reports how many connections are in use and how many callers wait', async () => {
  const db = open(current.url, 2);
  expect(poolUse(db)).toEqual({ idle: 0, used: 0, waiting: 0, max: 2 });
  const held = await current.db.startTransaction().execute();
  await sql`LOCK TABLE users`.execute(held);
  const counting = Promise.all([1, 2, 3].map(() => sql`SELECT FROM users`.execute(db)));
  await untilSomebodyWaits(current.db, 2);
  expect(poolUse(db)).toEqual({ idle: 0, used: 2, waiting: 1, max: 2 });
  await held.rollback().execute();
  await counting;
  expect(poolUse(db)).toEqual({ idle: 2, used: 0, waiting: 0, max: 2 });
  await db.destroy();
});
