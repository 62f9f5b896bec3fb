import { sql, type RawBuilder } from 'kysely';

/**
 * A CTE after which the statement waits at most so long for each locked row, in ms, and then fails
 * (`isLockTimeout`). Undefined: for as long as other statements. The statement must read from the CTE before
 * it locks: Postgres does not execute a SELECT that nothing reads.
 */
export function lockLimit(maxLockWaitMs: number | undefined): RawBuilder<unknown> {
  return sql`lock_limit AS MATERIALIZED (
    SELECT set_config('lock_timeout', coalesce(${maxLockWaitMs ?? null}::text, current_setting('lock_timeout')), true))`;
}
