import type { TokenScope } from '@pasteflow/domain';
import type { Generated } from 'kysely';

export interface UsersTable {
  id: Generated<string>;
  name: string;
  /** What the identity provider calls the user, cleaned, for people; NULL: it says nothing. */
  shown_name: string | null;
  created_at: Generated<Date>;
  /** NULL: the user stands. */
  erased_at: Date | null;
}

export interface ApiTokensTable {
  id: Generated<string>;
  user_id: string;
  /** The name that its user gave the token. */
  name: string;
  /** SHA-256 of the whole token, `pf_` included; of a session, of the secret in the cookie. */
  token_hash: Buffer;
  created_at: Generated<Date>;
  /** Written at most once a minute. */
  last_used_at: Date | null;
  /** NULL: never. */
  expires_at: Date | null;
  revoked_at: Date | null;
  /** The session of one browser; no program can use it. */
  is_session: Generated<boolean>;
  /** The token that signed the browser in; NULL: an invitation or the identity provider did, or this is no session. */
  signed_in_by: string | null;
  /** An invitation signed the browser in. */
  by_invitation: Generated<boolean>;
  /** Of a session, that of `signed_in_by` counts. */
  scope: Generated<TokenScope>;
  /** The token with which its user made this one; NULL: an operator did, or the user was signed in without a token. */
  made_by: string | null;
}

/** A link with which an operator lets a member in, once. */
export interface InvitationsTable {
  id: Generated<string>;
  user_id: string;
  /** SHA-256 of the secret in the link. */
  secret_hash: Buffer;
  created_at: Generated<Date>;
  expires_at: Date;
  /** NULL: not accepted. */
  accepted_at: Date | null;
  /** When the next invitation of the same user took its place. */
  ended_at: Date | null;
}

/** What the groups of an operator allow. Who may act may read. */
export type OperatorMay = 'nothing' | 'read' | 'act';

/** The browser of an operator whom the identity provider has signed in. */
export interface OperatorSessionsTable {
  /** SHA-256 of the secret in the cookie. */
  secret_hash: Buffer;
  /** As what the operator does is recorded. */
  actor: string;
  may: OperatorMay;
  expires_at: Date;
}
