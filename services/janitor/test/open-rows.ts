import type { Database } from '@pasteflow/postgres';
import { makeDeliveries, type ExecutionShape } from '@pasteflow/postgres/testing';
import { sql } from 'kysely';
import { makeEndpoint } from './world.ts';

/** An erasure that was requested 300 s ago, and one at work that was requested 400 s ago. */
export async function makeErasures(db: Database): Promise<void> {
  await sql`
    INSERT INTO erasures (user_id, pastes, jobs, created_at)
    SELECT gen_random_uuid(), 0, 0, now() - make_interval(secs => age) FROM unnest('{300,400}'::integer[]) age`.execute(
    db,
  );
  await sql`UPDATE erasures SET status = 'at_work' WHERE created_at < now() - interval '350 s'`.execute(db);
}

/** Three requests for secrets, 700 s old, of which one has expired. */
export async function makeRequests(db: Database, userId: string): Promise<void> {
  await sql`
    INSERT INTO secret_requests (code, user_id, places, created_at, expires_at)
    SELECT lpad(n::text, 22, '0'), ${userId}, 1, now() - interval '700 s', now() + make_interval(secs => n * 100 - 150)
    FROM generate_series(1, 3) AS made (n)`.execute(db);
}

/** Two deliveries of webhooks. Default: that have been due for 70 s. */
export async function makeDue(
  db: Database,
  userId: string,
  execution: ExecutionShape = { status: 'PENDING', dueSecondsAgo: 70 },
): Promise<void> {
  await makeDeliveries(db, await makeEndpoint(db, userId), 2, {
    status: 'WAITING',
    createdSecondsAgo: 80,
    execution,
  });
}
