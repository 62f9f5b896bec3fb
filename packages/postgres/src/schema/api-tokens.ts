import type { Generated } from 'kysely';

export interface ApiTokensTable {
  id: Generated<string>;
  user_id: string;
  /** The name that its user gave the token. */
  name: string;
  /** SHA-256 of the whole token, `pf_` included. */
  token_hash: Buffer;
  created_at: Generated<Date>;
  /** Written at most once a minute. */
  last_used_at: Date | null;
  /** NULL: never. */
  expires_at: Date | null;
  revoked_at: Date | null;
  /** Made for one browser; it ends when the browser signs out. */
  is_session: Generated<boolean>;
}
