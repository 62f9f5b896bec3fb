import type { Schema } from '../schema/schema.ts';
import type { ServiceRole } from './role-names.ts';

type Columns<Row> = 'all' | readonly (keyof Row & string)[];

/** `SELECT … FOR UPDATE` and `FOR SHARE` need the right to update at least one column. */
export interface TableRights<Row> {
  readonly select?: Columns<Row>;
  readonly insert?: Columns<Row>;
  readonly update?: readonly (keyof Row & string)[];
  readonly delete?: true;
}

/** A decision for every table: a table that is missing here does not compile. */
export type RoleRights = {
  readonly [Table in keyof Schema]: TableRights<Schema[Table]> | 'none';
};

/** The tables of the migrator, which no service uses. */
export const untypedTables = ['kysely_migration', 'kysely_migration_lock'] as const;

/** The functions that run with the rights of the owner, apart from triggers, and who may call them. */
export const functionCallers: Readonly<Record<string, readonly ServiceRole[]>> = {
  ensure_transition_partitions: ['pasteflow_janitor'],
  drop_old_transitions: ['pasteflow_janitor'],
  cancel_job: ['pasteflow_api', 'pasteflow_janitor'],
  count_untold_events: ['pasteflow_janitor'],
  reveal_paste: ['pasteflow_api'],
  report_paste: ['pasteflow_api'],
  retry_failed: ['pasteflow_janitor'],
  erase_user: ['pasteflow_api', 'pasteflow_janitor'],
  user_stands: ['pasteflow_api', 'pasteflow_worker', 'pasteflow_janitor'],
  move_slug: ['pasteflow_api'],
  change_paste: ['pasteflow_api'],
  take_place: ['pasteflow_api'],
  cancel_secret_request: ['pasteflow_api', 'pasteflow_janitor'],
  reset_execution_times: ['pasteflow_janitor'],
  reset_deletion_times: ['pasteflow_janitor'],
  record_events: [],
  locked_usage: ['pasteflow_api', 'pasteflow_worker'],
};
