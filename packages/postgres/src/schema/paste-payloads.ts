import type { Generated } from 'kysely';

/** Content that waits until it is in S3. A table of its own, so that status updates of `pastes` stay small. */
export interface PastePayloadsTable {
  paste_id: string;
  content: Buffer;
  /** As its paste's, both: an owner's list of what is IN_PROGRESS is read by them. */
  user_id: string | null;
  created_at: Generated<Date>;
}
