import type { Generated } from 'kysely';

/** A retry of a FAILED paste: a new paste has replaced it under the same short code. */
export interface PasteRetriesTable {
  /** The id of the FAILED paste, whose row is gone. */
  retried_from: string;
  /** The executions of the FAILED paste. */
  execution_ids: Generated<string[]>;
  /** The paste that has the short code now. */
  paste_id: string;
  /** Of the FAILED paste, as are the next two. */
  created_at: Date;
  failed_at: Date;
  failure_reason: string;
  retried_at: Generated<Date>;
  actor: string;
  /** Why, in the words of the operator; NULL: none were given. */
  reason: string | null;
}
