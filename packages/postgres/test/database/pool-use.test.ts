import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import { sql } from 'kysely';
import { cutStatements, poolUse } from '../../src/index.ts';
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

it('a cut pool ends the statement that runs and refuses the callers that still wait', async () => {
  const db = open(current.url, 1);
  const held = await db.startTransaction().execute();
  const locked = await current.db.startTransaction().execute();
  await sql`LOCK TABLE users`.execute(locked);
  const callers = Promise.allSettled([1, 2, 3].map(() => sql`SELECT FROM users`.execute(db)));
  expect(poolUse(db)).toMatchObject({ used: 1, waiting: 3 });
  await held.rollback().execute();
  await untilSomebodyWaits(current.db, 1); // the first caller has the connection
  cutStatements(db);
  for (const caller of await callers)
    expect(caller).toMatchObject({ reason: expect.any(DependencyUnavailableError) });
  await locked.rollback().execute();
  await db.destroy();
});

/** The old generation is too large to be collected before the end. */
const flags = ['--expose-gc', '--initial-old-space-size=1024', '--conditions=source'];
const script = new URL('fixtures/statements.ts', import.meta.url).pathname;
const grownBytes = (kind: 'pg' | 'database'): number =>
  Number(execFileSync(process.execPath, [...flags, script, current.url, kind], { encoding: 'utf8' }));

it("what a statement has sent is freed with the young generation, which pg's own promises and timeout prevent", () => {
  const ofPg = grownBytes('pg'); // shows that the script measures it; when pg frees it, too, query() in pool.ts can go
  expect(ofPg).toBeGreaterThan(5_000_000);
  expect(grownBytes('database')).toBeLessThan(ofPg / 5);
});
