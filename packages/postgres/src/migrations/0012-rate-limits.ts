import { sql, type Kysely } from 'kysely';

/**
 * The counters of rate-limiter-flexible, in the format that it expects (`expire` in Unix milliseconds).
 * Unlogged: a counter is not worth WAL, and a limit that restarts after a crash does no harm.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE UNLOGGED TABLE rate_limits (
      key varchar(255) PRIMARY KEY,
      points integer NOT NULL DEFAULT 0,
      expire bigint
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000)`.execute(
    db,
  );
  await sql`CREATE INDEX rate_limits_expire ON rate_limits (expire)`.execute(db);
}
