import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/index.ts';

const DEADLINE_MS = 10_000;

/** Resolves when a statement of this database waits for a lock. */
export async function untilSomebodyWaits(db: Database): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  const waiting = () =>
    sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
      .execute(db)
      .then(({ rows }) => rows.length);
  while ((await waiting()) === 0) {
    if (performance.now() > deadline) throw new Error('nobody waits for a lock');
    await wait(5);
  }
}
