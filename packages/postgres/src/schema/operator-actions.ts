import type { Generated } from 'kysely';

/** Something that an operator did. The row is inserted first, and `outcome` set when it is done. */
export interface OperatorActionsTable {
  id: Generated<string>;
  at: Generated<Date>;
  actor: string;
  /** For example `takedown` or `run sweep`. */
  action: string;
  /** A short code, the id of a user or job, a content hash or the name of a sweep; NULL: none. */
  subject: string | null;
  /** In the words of the operator. */
  reason: string;
  /** What was done, or why it failed, in words; NULL: the process died meanwhile, or is still at it. */
  outcome: string | null;
}
