import type { Generated } from 'kysely';
import type { TakedownClass } from '@pasteflow/domain';

/** Content of which no paste is created. At most one block of a content is in force; those that were lifted stay as a record. */
export interface ContentBlocksTable {
  id: Generated<string>;
  /** `sha256:` and 64 hex digits. */
  content_hash: string;
  class: TakedownClass;
  /** In the words of the operator, for operators. */
  reason: string;
  actor: string;
  blocked_at: Generated<Date>;
  /** The short codes of pastes of the last minute that had the content before the block. They stay. */
  older: Generated<string[]>;
  /** NULL: the block is in force. The two that follow are set with it. */
  unblocked_at: Date | null;
  unblocked_by: string | null;
  unblock_reason: string | null;
}
