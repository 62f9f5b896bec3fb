import { sql, type Kysely } from 'kysely';

/** The ids of all rows, and who may do what: users and their API tokens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- As uuidv7() of Postgres 18 (RFC 9562, 5.7): 48 bits of Unix milliseconds, the version, random bits.
    -- Later ids sort later, so that inserts append to the right edge of an index.
    CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
      SELECT encode(
        set_bit(set_bit(
          overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
            FROM 1 FOR 6),
          52, 1), 53, 1),
        'hex')::uuid
    $$;

    CREATE TABLE users (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      name text NOT NULL UNIQUE CHECK (name <> ''),
      created_at timestamptz NOT NULL DEFAULT now()
    );

    -- token_hash: the SHA-256 of the token, which is stored nowhere.
    -- is_session: made for one browser, and ends when the browser signs out.
    -- signed_in_by: the token with which the browser was signed in. The session is good only while that token is.
    CREATE TABLE api_tokens (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name text NOT NULL CHECK (name <> ''),
      token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      expires_at timestamptz,
      revoked_at timestamptz,
      is_session boolean NOT NULL DEFAULT false,
      signed_in_by uuid REFERENCES api_tokens (id) ON DELETE CASCADE,
      CONSTRAINT api_tokens_signed_in_by CHECK (signed_in_by IS NULL OR is_session)
    ) WITH (fillfactor = 80);
    CREATE INDEX api_tokens_user ON api_tokens (user_id, created_at);
    -- For the removal of a token, which removes its sessions.
    CREATE INDEX api_tokens_sessions ON api_tokens (signed_in_by) WHERE signed_in_by IS NOT NULL;
  `.execute(db);
}
