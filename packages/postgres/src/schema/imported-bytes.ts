import type { Generated } from 'kysely';

/** The bytes of the pastes that one batch of an import has created. Kept for an hour. */
export interface ImportedBytesTable {
  user_id: string;
  created_at: Generated<Date>;
  /** A bigint, which pg returns as text. */
  bytes: string;
}
