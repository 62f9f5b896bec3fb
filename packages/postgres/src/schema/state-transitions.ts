import type { Generated } from 'kysely';
import type { MachineName } from '@pasteflow/domain';

/** Written by the database itself, one row an applied transition; partitioned by month of `at`. */
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
  /** The transaction that wrote it; NULL: before transactions were recorded. */
  txid: Generated<string | null>;
}
