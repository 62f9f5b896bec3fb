import { sql, type Kysely } from 'kysely';

/** Tokens that users make, which may do less than those of the operator. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- scope: that of a session is the scope of the token that began it.
    -- made_by: the token with which it was made. It is good only while that token is.
    ALTER TABLE api_tokens
      ADD COLUMN scope text NOT NULL DEFAULT 'full' CHECK (scope IN ('full', 'write', 'read')),
      ADD COLUMN made_by uuid REFERENCES api_tokens (id) ON DELETE CASCADE,
      ADD CONSTRAINT api_tokens_own CHECK (scope <> 'full' AND NOT is_session AND expires_at IS NOT NULL
        OR scope = 'full' AND made_by IS NULL);
    -- For the removal of a token, which removes those that it has made.
    CREATE INDEX api_tokens_made ON api_tokens (made_by) WHERE made_by IS NOT NULL;
  `.execute(db);
}
