import type { PasteReportState, TakedownClass } from '@pasteflow/domain';
import type { Generated } from 'kysely';

export interface PasteReportsTable {
  id: Generated<string>;
  paste_id: string;
  content_hash: string;
  status: Generated<PasteReportState>;
  class: TakedownClass;
  /** In the words of the reporter; NULL: none. */
  text: string | null;
  /** Where the reporter can be reached; NULL: nowhere. */
  contact: string | null;
  /** A keyed hash of the address, to count reporters. Set exactly while the report is open. */
  reporter: Buffer | null;
  created_at: Generated<Date>;
  /** Set exactly once an operator has decided. */
  judged_at: Date | null;
}

/** Content of which no report is taken under the same title and slug, because an operator has rejected its reports. */
export interface ClearedContentsTable {
  content_hash: string;
  /** SHA-256 of the title and the slug; empty: neither. */
  shown_as: Generated<string>;
  actor: string;
  /** In the words of the operator, for operators. */
  reason: string;
  cleared_at: Generated<Date>;
}
