import { sql, type Kysely } from 'kysely';

/** The browsers of operators whom the identity provider has signed in, and the users who are erased. */
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

    -- erased_at: from then on nothing is created for the user. The name is then made of the id.
    ALTER TABLE users ADD COLUMN erased_at timestamptz;

    -- pastes, jobs: what the user had at the request.
    CREATE TABLE erasures (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      user_id uuid NOT NULL UNIQUE,
      status varchar(20) NOT NULL DEFAULT 'requested',
      pastes integer NOT NULL,
      jobs integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      done_at timestamptz,
      CONSTRAINT erasures_done_has_time CHECK ((status = 'done') = (done_at IS NOT NULL))
    );
    CREATE INDEX erasures_open ON erasures (created_at, id) WHERE done_at IS NULL;
  `.execute(db);
}
