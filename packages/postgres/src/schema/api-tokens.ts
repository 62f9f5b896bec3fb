import type { Generated } from 'kysely';

export interface ApiTokensTable {
  id: Generated<string>;
  user_id: string;
  /** What its user calls it. */
  name: string;
  /** SHA-256 of the whole token, `pf_` included. */
  token_hash: Buffer;
  created_at: Generated<Date>;
  /** To the minute: written at most once in one. */
  last_used_at: Date | null;
  /** NULL: never. */
  expires_at: Date | null;
  revoked_at: Date | null;
}
