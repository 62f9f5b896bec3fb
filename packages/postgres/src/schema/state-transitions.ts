import type { Generated } from 'kysely';
import type { MachineName } from '@pasteflow/domain';

/** The audit trail: a row for each transition. Written by triggers; partitioned by month of `at`. */
export interface StateTransitionsTable {
  id: Generated<string>;
  machine: MachineName;
  /** The id of the paste, job or execution. */
  entity: string;
  from: string;
  to: string;
  at: Generated<Date>;
  actor: string;
  reason: string | null;
}
