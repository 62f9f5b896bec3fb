import { sql, type RawBuilder } from 'kysely';

/** The process that makes a transition, as the timeline shows it: `<service>/<instance id>`. */
export type Actor = string;

/**
 * The actor and the reason of the transitions of one statement, as the first CTE of the statement. The
 * statement must read from the CTE: Postgres does not execute a SELECT that nothing reads. The settings are
 * local to the transaction, and the recorder trigger reads them at the end of the statement.
 */
export function byActor(actor: Actor, reason: string | null = null): RawBuilder<unknown> {
  return sql`actor AS MATERIALIZED (
    SELECT set_config('pasteflow.actor', ${actor}, true), set_config('pasteflow.reason', ${reason ?? ''}, true))`;
}
