import { sql, type RawBuilder } from 'kysely';

/** Who makes a transition, as the timeline shows it: `<service>/<instance id>`. */
export type Actor = string;

/**
 * Names actor and reason for the transitions of one statement, to be put first in it as a CTE that the statement must read from (an
 * unread SELECT isn't run). The settings are local to the transaction; the recorder trigger reads them when the statement ends.
 */
export function byActor(actor: Actor, reason: string | null = null): RawBuilder<unknown> {
  return sql`actor AS MATERIALIZED (
    SELECT set_config('pasteflow.actor', ${actor}, true), set_config('pasteflow.reason', ${reason ?? ''}, true))`;
}
