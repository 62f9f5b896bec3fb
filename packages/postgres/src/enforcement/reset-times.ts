import type { OwnerFunction } from './objects.ts';

/**
 * A time that is further ahead was written while the clock of Postgres was ahead. Less than that, the
 * statement may have begun before the one that wrote the time.
 */
export const AHEAD_SECONDS = 1;

const ahead = `now() + make_interval(secs => ${AHEAD_SECONDS})`;

/**
 * Resets the times of open executions that are further ahead than they can be, because the clock of Postgres
 * was ahead: a waiting execution is due now, and without the stamp of its message, which waits in the queue
 * for just as long, the relay sends another one. A lease ends a lease from now, and a live worker renews it
 * before. No service may change when an execution is due, so this is a function of the owner.
 * @returns the ids of the pastes or jobs
 */
export const resetExecutionTimesFunction: OwnerFunction = {
  name: 'reset_execution_times',
  parameters: 'among uuid[], delay_seconds double precision, lease_seconds double precision',
  returns: 'SETOF uuid',
  body: `
    BEGIN
      RETURN QUERY
        WITH waiting AS MATERIALIZED (
          SELECT id FROM task_executions WHERE id = ANY (among) AND status = 'PENDING'
            AND (run_at > ${ahead} + make_interval(secs => delay_seconds) OR dispatched_at > ${ahead})
          FOR UPDATE SKIP LOCKED
        )
        UPDATE task_executions e SET run_at = least(e.run_at, now()), dispatched_at = NULL
        FROM waiting WHERE e.id = waiting.id RETURNING e.subject_id;
      RETURN QUERY
        WITH running AS MATERIALIZED (
          SELECT id FROM task_executions WHERE id = ANY (among)
            AND lease_expires_at > ${ahead} + make_interval(secs => lease_seconds)
          FOR UPDATE SKIP LOCKED
        )
        UPDATE task_executions e SET lease_expires_at = clock_timestamp() + make_interval(secs => lease_seconds)
        FROM running WHERE e.id = running.id RETURNING e.subject_id;
    END`,
};

/**
 * The same for deletions: those that were requested, for which the cleanup would wait, and those that were
 * claimed, for which the watchdog would. A claim whose time changes is lost to its
 * cleanup, as if the watchdog had released it. The reader of a revealed paste keeps the right to read it again.
 * @returns the ids of the pastes
 */
export const resetDeletionTimesFunction: OwnerFunction = {
  name: 'reset_deletion_times',
  parameters: 'among uuid[]',
  returns: 'SETOF uuid',
  body: `
    BEGIN
      RETURN QUERY
        WITH requested AS MATERIALIZED (
          SELECT id FROM pastes WHERE id = ANY (among) AND deletion_requested_at > ${ahead} AND deletion_initiated_at IS NULL
          FOR UPDATE SKIP LOCKED
        )
        UPDATE pastes p SET deletion_requested_at = now() FROM requested WHERE p.id = requested.id RETURNING p.id;
      RETURN QUERY
        WITH claimed AS MATERIALIZED (
          SELECT id FROM pastes WHERE id = ANY (among) AND deletion_initiated_at > ${ahead} AND deleted_at IS NULL
          FOR UPDATE SKIP LOCKED
        )
        UPDATE pastes p SET deletion_initiated_at = now(),
          burned_at = CASE WHEN p.burned_at = p.deletion_initiated_at THEN now() ELSE p.burned_at END
        FROM claimed WHERE p.id = claimed.id RETURNING p.id;
    END`,
};
