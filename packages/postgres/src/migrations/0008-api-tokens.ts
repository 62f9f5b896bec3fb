import { sql, type Kysely } from 'kysely';

/** Only the SHA-256 of a token is stored. Tokens are found by it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE api_tokens (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name text NOT NULL CHECK (name <> ''),
      token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      expires_at timestamptz,
      revoked_at timestamptz
    ) WITH (fillfactor = 80)`.execute(db);
  await sql`CREATE INDEX api_tokens_user ON api_tokens (user_id, created_at)`.execute(db);
}
