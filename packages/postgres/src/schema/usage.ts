import type { Generated } from 'kysely';

/** A part of what an owner has stored. */
export interface StoredUsageTable {
  /** A user, or the nil UUID: all pastes. */
  owner: string;
  part: number;
  /** Bigints, which pg returns as text; negative in a part that counts deletions. */
  pastes: Generated<string>;
  bytes: Generated<string>;
}
