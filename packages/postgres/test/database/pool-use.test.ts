import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
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

it('the error of a statement without an answer is that of an unavailable Postgres, and its connection is not reused', async () => {
  const db = open(current.url, 1, 500);
  const backend = async (): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db);
    return rows[0]!.pid;
  };
  const frozen = await backend();
  process.kill(frozen, 'SIGSTOP');
  try {
    await expect(backend()).rejects.toThrow(DependencyUnavailableError);
  } finally {
    process.kill(frozen, 'SIGCONT');
  }
  expect(await backend()).not.toBe(frozen);
  await db.destroy();
});

/** The old generation is too large to be collected before the end. */
const flags = ['--expose-gc', '--initial-old-space-size=1024', '--conditions=source'];
const script = new URL('fixtures/statements.ts', import.meta.url).pathname;
const grownBytes = (kind: 'pg' | 'database'): number =>
  Number(execFileSync(process.execPath, [...flags, script, current.url, kind], { encoding: 'utf8' }));

it("what a statement has sent is freed with the young generation, which pg's own promises and timeout prevent", () => {
  const ofPg = grownBytes('pg');
  expect(ofPg).toBeGreaterThan(5_000_000);
  expect(grownBytes('database')).toBeLessThan(ofPg / 5);
});
