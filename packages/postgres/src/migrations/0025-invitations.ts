import { sql, type Kysely } from 'kysely';

/** Invitations of members. The CHECK on api_tokens reads the table once, during which requests wait. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- by_invitation: an invitation signed the browser in. The next invitation of the user ends the session.
    ALTER TABLE api_tokens ADD COLUMN by_invitation boolean NOT NULL DEFAULT false,
      ADD CONSTRAINT api_tokens_by_invitation CHECK (NOT by_invitation OR is_session AND signed_in_by IS NULL);

    -- secret_hash: the SHA-256 of the secret in the link, which is stored nowhere. ended_at: of the next invitation of
    -- the same user, which ends this one.
    CREATE TABLE invitations (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      user_id uuid NOT NULL REFERENCES users (id),
      secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      accepted_at timestamptz,
      ended_at timestamptz,
      CONSTRAINT invitations_accepted_or_ended CHECK (num_nonnulls(accepted_at, ended_at) <= 1)
    );
    CREATE UNIQUE INDEX invitations_open ON invitations (user_id) WHERE accepted_at IS NULL AND ended_at IS NULL;
    -- For the erasure of a user.
    CREATE INDEX invitations_user ON invitations (user_id);
    CREATE INDEX invitations_old ON invitations (expires_at);
  `.execute(db);
}
