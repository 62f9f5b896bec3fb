import type { Generated } from 'kysely';

/** Content that is not in S3 yet. A separate table, so that status updates of `pastes` stay small. */
export interface PastePayloadsTable {
  paste_id: string;
  content: Buffer;
  /** user_id and created_at are those of the paste: the list of an owner's pastes IN_PROGRESS reads them. */
  user_id: string | null;
  created_at: Generated<Date>;
}

/** The content of FAILED pastes, kept for a retry until the row is removed. */
export interface FailedPayloadsTable {
  paste_id: string;
  content: Buffer;
}
