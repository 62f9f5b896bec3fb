import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/index.ts';

const DEADLINE_MS = 60_000;

/** Resolves when so many statements of this database wait for a lock. */
export async function untilSomebodyWaits(db: Database, many = 1): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  const waiting = () =>
    sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
      .execute(db)
      .then(({ rows }) => rows.length);
  while ((await waiting()) < many) {
    if (performance.now() > deadline) throw new Error(`fewer than ${many} wait for a lock`);
    await wait(5);
  }
}
