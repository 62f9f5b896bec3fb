import { sql, type Kysely } from 'kysely';

/** The browsers of operators whom the identity provider has signed in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- secret_hash: SHA-256 of the secret in the cookie. actor: as what the operator does is recorded.
    -- may: what the groups of the operator allowed at the sign-in.
    CREATE TABLE operator_sessions (
      secret_hash bytea PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
      actor text NOT NULL CHECK (actor <> ''),
      may text NOT NULL CHECK (may IN ('nothing', 'read', 'act')),
      expires_at timestamptz NOT NULL
    );
  `.execute(db);
}
