import { setTimeout as wait } from 'node:timers/promises';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Schema } from '../schema/schema.ts';
import { isLockTimeout } from './errors.ts';

/**
 * Changing triggers or owners needs an exclusive lock on each table for a moment, and no order of locking is
 * safe: a creation writes pastes before executions, a settlement executions before pastes. The transaction
 * gives up before Postgres checks for deadlocks (after 1 s) and runs again, so that a deploy never fails a
 * statement of a service.
 */
const LOCK_TIMEOUT_MS = 300;
const MAX_TRIES = 50;

/**
 * An autovacuum is canceled only by a session that waits longer than that second. The first lock conflicts
 * with no writer: waiting for it cancels the autovacuum, and holding it prevents the next one.
 */
const VACUUM_TIMEOUT_MS = 30_000;

/** Runs a transaction again, up to 50 times, when it did not get a lock in time. */
export async function withLockRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error) || tries === MAX_TRIES) throw error;
      await wait(LOCK_TIMEOUT_MS * Math.random());
    }
  }
}

/**
 * Keeps autovacuum away from the tables until the end of the transaction. From then on no lock is waited for
 * longer than 300 ms.
 */
export async function holdOffVacuum(tx: Kysely<Schema>, tables: readonly string[]): Promise<void> {
  await setLockTimeout(tx, VACUUM_TIMEOUT_MS);
  for (const table of [...tables].toSorted())
    await sql`LOCK TABLE ${sql.id(table)} IN SHARE UPDATE EXCLUSIVE MODE`.execute(tx);
  await setLockTimeout(tx, LOCK_TIMEOUT_MS);
}

interface Holder {
  readonly pid: number;
  readonly user: string;
  readonly application: string;
  /** null: this user may not see it. */
  readonly state: string | null;
  readonly seconds: number | null;
}

/**
 * After a lock that was not granted: which transaction has locked a table for longest, and how to end it, as
 * a sentence.
 */
export async function describeHolder(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<Holder>`
    SELECT pid, usename AS user, application_name AS application, state,
      extract(epoch FROM clock_timestamp() - xact_start)::integer AS seconds
    FROM pg_stat_activity a WHERE datname = current_database() AND pid <> pg_backend_pid() AND EXISTS (
      SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
      WHERE l.pid = a.pid AND l.granted AND c.relnamespace = current_schema()::regnamespace)
    ORDER BY xact_start NULLS LAST LIMIT 1`.execute(db);
  const [holder] = rows;
  if (holder === undefined) return 'other transactions have locked a table again and again. Migrate again';
  const { pid, user, application, state, seconds } = holder;
  const since = seconds === null ? '' : `, for ${seconds} s ${state ?? 'active'}`;
  return (
    `the process ${pid} of Postgres (user ${user}, application "${application}"${since}) has locked a table. ` +
    `Let it end its transaction, or execute SELECT pg_terminate_backend(${pid}), and migrate again`
  );
}

async function setLockTimeout(tx: Kysely<Schema>, ms: number): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(`${ms}ms`)}`.execute(tx);
}

/**
 * A CTE after which the statement waits at most so long for each locked row, in ms, and then fails
 * (`isLockTimeout`). Undefined: for as long as other statements. The statement must read from the CTE before
 * it locks: Postgres does not execute a SELECT that nothing reads.
 */
export function lockLimit(maxLockWaitMs: number | undefined): RawBuilder<unknown> {
  return sql`lock_limit AS MATERIALIZED (
    SELECT set_config('lock_timeout', coalesce(${maxLockWaitMs ?? null}::text, current_setting('lock_timeout')), true))`;
}
