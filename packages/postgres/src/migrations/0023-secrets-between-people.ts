import { sql, type Kysely } from 'kysely';

/**
 * Requests for secrets, who has read a paste, pastes for those who are signed in, and names of people. The CHECKs read
 * the table once, during which requests wait.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- shown_name: what the identity provider calls the user, for people only. It identifies nobody.
    ALTER TABLE users ADD COLUMN shown_name text
      CONSTRAINT users_shown_name CHECK (shown_name <> '' AND length(shown_name) <= 100);

    -- for_members: beside the owner, everyone who is signed in reads the paste. It is private as well, so that a service
    -- that does not know the column shows the paste to its owner only.
    -- read_by: the user who has revealed the paste; NULL: nobody, or somebody who was not signed in, or is erased. No
    -- foreign key: users are never removed, and their erasure empties the column.
    ALTER TABLE pastes ADD COLUMN for_members boolean NOT NULL DEFAULT false, ADD COLUMN read_by uuid,
      ADD CONSTRAINT pastes_for_members_is_private CHECK (NOT for_members OR visibility = 'private'),
      ADD CONSTRAINT pastes_read_by CHECK (read_by IS NULL OR burned_at IS NOT NULL);
    -- For the erasure of a reader, and for the list of what an owner's readers have read.
    CREATE INDEX pastes_read_by ON pastes (read_by) WHERE read_by IS NOT NULL;
    CREATE INDEX pastes_owner_read ON pastes (user_id, created_at, id) WHERE user_id IS NOT NULL AND burned_at IS NOT NULL;

    -- code: the id in the link. places: how many deposits the request takes. taken: how many it has taken; a place is
    -- never returned. No row has the public key, which stands in the link alone.
    CREATE TABLE secret_requests (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      code text COLLATE "C" NOT NULL UNIQUE CHECK (code ~ '^[0-9A-Za-z]{22}$'),
      user_id uuid NOT NULL REFERENCES users (id),
      message text CHECK (message <> '' AND length(message) <= 200),
      places smallint NOT NULL CHECK (places BETWEEN 1 AND 20),
      taken smallint NOT NULL DEFAULT 0,
      status varchar(20) NOT NULL DEFAULT 'OPEN',
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      ended_at timestamptz,
      CONSTRAINT secret_requests_taken CHECK (taken BETWEEN 0 AND places),
      CONSTRAINT secret_requests_used_up CHECK ((status = 'USED_UP') = (taken = places)),
      CONSTRAINT secret_requests_ended_has_time CHECK ((status = 'OPEN') = (ended_at IS NULL))
    );
    CREATE INDEX secret_requests_owner ON secret_requests (user_id, created_at, id);
    -- For the limit of what a user asks for at once.
    CREATE INDEX secret_requests_open ON secret_requests (user_id, expires_at) WHERE status = 'OPEN';
    CREATE INDEX secret_requests_old ON secret_requests (expires_at);

    -- What a deposit is beside its paste, for as long as that has a row. The short code and no id: a retry of the upload
    -- gives the paste another id. wrapped_key: of HPKE, the encapsulated key (65 bytes) and the sealed one (32 + 16).
    CREATE TABLE deposits (
      request_id uuid NOT NULL REFERENCES secret_requests (id) ON DELETE CASCADE,
      number smallint NOT NULL CHECK (number BETWEEN 1 AND 20),
      short_code text COLLATE "C" NOT NULL UNIQUE,
      wrapped_key bytea NOT NULL CHECK (octet_length(wrapped_key) = 113),
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (request_id, number)
    );
  `.execute(db);
}
