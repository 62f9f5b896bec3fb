import type { Generated } from 'kysely';
import type { MachineName } from '@pasteflow/domain';

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

/** One row: up to where transitions have been counted. */
export interface TransitionCursorTable {
  one: Generated<true>;
  txid: Generated<string>;
  id: Generated<string>;
  greatest_id: Generated<string>;
  ids_above: Generated<string>;
}
