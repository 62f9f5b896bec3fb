import { taskExecution, transition, type Transition } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Actor } from '../database/actor.ts';

/** The transition of a claim. */
export const claimTransition: Transition<'PENDING', 'RUNNING'> = transition(
  taskExecution,
  'PENDING',
  'RUNNING',
);

/**
 * The CTE `claimed`: the rows of the CTE `due` (id) become RUNNING under a lease. `due` has found them
 * PENDING and locked them, so that they still are. The lease counts from `clock_timestamp()`, because a
 * statement that waited for locks would otherwise begin with a part of the lease spent.
 */
export function claimDue({
  actor,
  leaseSeconds,
}: {
  actor: Actor;
  leaseSeconds: number;
}): RawBuilder<unknown> {
  return sql`claimed AS (
      UPDATE task_executions e
      SET status = ${claimTransition.to}, worker_id = ${actor}, started_at = now(), dispatched_at = coalesce(e.dispatched_at, now()),
        lease_expires_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      WHERE e.id = ANY (ARRAY(SELECT id FROM due))
      RETURNING e.id, e.subject_id, e.attempt, e.losses
    )`;
}

/**
 * The time at which to try again an open execution of the CTE `asked` that was not claimed; NULL when none is
 * open. It comes from the statement's snapshot. An execution that is due in the snapshot has just been
 * claimed by another worker, so it counts as running for a whole lease. An execution past its lease waits for
 * the reaper, one second at a time: a message that is returned without a wait comes back at once, and reaches
 * the dead-letter queue after a hundred receives.
 */
export function tryAgainAt(leaseSeconds: number): RawBuilder<Date | null> {
  return sql`CASE
        WHEN asked.status = ${claimTransition.to} THEN greatest(asked.lease_expires_at, now() + interval '1 second')
        WHEN asked.run_at > now() THEN asked.run_at
        WHEN asked.status IS NOT NULL THEN now() + make_interval(secs => ${leaseSeconds}) END`;
}
