import type { MachineName } from '@pasteflow/domain';
import type { Generated } from 'kysely';

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

/** How often each transition happened, and how long the rows had been in `from`. */
export interface TransitionStatisticsTable {
  machine: MachineName;
  from: string;
  to: string;
  count: string;
  /** The sum of all times, in seconds. */
  seconds: number;
  /** How many times were at most each of `stateDurationBounds`; the last element counts all. */
  buckets: string[];
}

/**
 * The transitions of one kind that one statement made, until the janitor counts them. Written by triggers.
 */
export interface UncountedTransitionsTable {
  machine: MachineName;
  from: string;
  to: string;
  at: Generated<Date>;
  /** For each transition, how long the row had been in `from`, in seconds. */
  seconds: number[];
}
