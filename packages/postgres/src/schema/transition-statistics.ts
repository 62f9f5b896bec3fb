import type { Generated } from 'kysely';
import type { MachineName } from '@pasteflow/domain';

/** How often each transition happened, and how long what made it had been in `from`. */
export interface TransitionStatisticsTable {
  machine: MachineName;
  from: string;
  to: string;
  count: string;
  /** In sum. */
  seconds: number;
  /** How many took at most as long as each of `stateDurationBounds`, and last how many there are. */
  buckets: string[];
}

/** One row: what has been counted in `transition_statistics`. */
export interface TransitionCursorTable {
  one: Generated<true>;
  txid: Generated<string>;
  id: Generated<string>;
  greatest_id: Generated<string>;
  ids_above: Generated<string>;
}
