import { sql, type Kysely } from 'kysely';

/** Pastes, their content until it is in S3, and what is left of those that were retried. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- The CHECKs bind each column to the states in which it has a value.
    -- No index has status or a column that an upload sets, so that IN_PROGRESS to PROCESSED is a HOT update where its
    -- page has room. The predicates have the times that only rarer transitions set.
    -- Patterns use + and length() where each settlement checks them: {64} costs ten times the CPU time.
    --
    -- taken_down_for: why an operator took the paste down (ADR 41).
    -- encrypted: by the client (ADR 49). The title and the language are then within the ciphertext.
    -- stored_encoding: how the object is compressed.
    -- burn: deleted when it is read. burned_at: when that was, which no watchdog resets (ADR 47).
    -- slug: the paste is also at /~slug, until its row is removed (ADR 53).
    -- parent: the short code of the paste that this one was made from. No foreign key: the parent may go at any time.
    -- reader_key_hash: the SHA-256 of the key with which the reader of a burned paste may repeat the reveal.
    -- deletion_requested_at: the paste is over, whatever a clock that steps back says of expires_at.
    CREATE TABLE pastes (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      short_code text COLLATE "C" NOT NULL UNIQUE CHECK (short_code ~ '^[0-9A-Za-z]+$' AND length(short_code) <= 32),
      user_id uuid REFERENCES users (id),
      title text,
      syntax text,
      status varchar(20) NOT NULL DEFAULT 'IN_PROGRESS',
      content_hash text NOT NULL CHECK (content_hash ~ '^sha256:[0-9a-f]+$' AND length(content_hash) = 71),
      size_bytes integer NOT NULL CHECK (size_bytes > 0),
      s3_url text,
      failure_reason text,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      processed_at timestamptz,
      failed_at timestamptz,
      deletion_status varchar(20) NOT NULL DEFAULT 'NOT_EXPIRED',
      deletion_initiated_at timestamptz,
      deleted_at timestamptz,
      delete_token_hash bytea,
      visibility varchar(20) NOT NULL DEFAULT 'unlisted' CHECK (visibility IN ('unlisted', 'private')),
      taken_down_for text CONSTRAINT pastes_taken_down_for
        CHECK (taken_down_for IN ('illegal', 'copyright', 'malware', 'phishing', 'personal_data', 'spam', 'other')),
      encrypted boolean NOT NULL DEFAULT false,
      stored_encoding text CONSTRAINT pastes_stored_encoding CHECK (stored_encoding = 'gzip'),
      burn boolean NOT NULL DEFAULT false,
      burned_at timestamptz,
      slug text COLLATE "C" CONSTRAINT pastes_slug_pattern CHECK (slug ~ '^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$'),
      parent text COLLATE "C" CONSTRAINT pastes_parent CHECK (parent ~ '^[0-9A-Za-z]{1,32}$'),
      reader_key_hash bytea,
      deletion_requested_at timestamptz,
      CONSTRAINT pastes_processed_has_url CHECK ((status = 'PROCESSED') = (s3_url IS NOT NULL)),
      CONSTRAINT pastes_processed_has_time CHECK ((status = 'PROCESSED') = (processed_at IS NOT NULL)),
      CONSTRAINT pastes_encoded_is_processed CHECK (stored_encoding IS NULL OR status = 'PROCESSED'),
      CONSTRAINT pastes_failed_has_reason CHECK ((status = 'FAILED') = (failure_reason IS NOT NULL)),
      CONSTRAINT pastes_failed_has_time CHECK ((status = 'FAILED') = (failed_at IS NOT NULL)),
      CONSTRAINT pastes_claimed_has_time CHECK ((deletion_status = 'NOT_EXPIRED') = (deletion_initiated_at IS NULL)),
      CONSTRAINT pastes_claimed_once_settled CHECK (deletion_status = 'NOT_EXPIRED' OR status <> 'IN_PROGRESS'),
      CONSTRAINT pastes_deleted_has_time CHECK ((deletion_status = 'DELETED') = (deleted_at IS NOT NULL)),
      CONSTRAINT pastes_private_has_owner CHECK (visibility <> 'private' OR user_id IS NOT NULL),
      CONSTRAINT pastes_slug_has_owner CHECK (slug IS NULL OR user_id IS NOT NULL),
      CONSTRAINT pastes_encrypted CHECK (NOT encrypted OR num_nonnulls(title, syntax) = 0),
      CONSTRAINT pastes_taken_down_is_deleted CHECK (taken_down_for IS NULL OR deletion_requested_at IS NOT NULL),
      CONSTRAINT pastes_burned_is_deleted CHECK (burned_at IS NULL OR (burn AND deletion_requested_at IS NOT NULL)),
      CONSTRAINT pastes_reader_key CHECK (reader_key_hash IS NULL OR (burned_at IS NOT NULL AND length(reader_key_hash) = 32))
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

    -- What the cleanup claims, by the time of the request or of the expiry.
    CREATE INDEX pastes_due ON pastes ((coalesce(deletion_requested_at, expires_at)), id)
      WHERE deletion_initiated_at IS NULL AND coalesce(deletion_requested_at, expires_at) IS NOT NULL;
    -- Claims that the watchdog resets, rows that are removed some time after the deletion, and failed pastes.
    CREATE INDEX pastes_claimed ON pastes (deletion_initiated_at) WHERE deletion_initiated_at IS NOT NULL AND deleted_at IS NULL;
    CREATE INDEX pastes_tombstones ON pastes (deleted_at) WHERE deleted_at IS NOT NULL;
    CREATE INDEX pastes_failed ON pastes (created_at) WHERE failed_at IS NOT NULL;
    -- The orders of an owner's lists. IN_PROGRESS is found by the payload, which has owner and time for this purpose.
    CREATE INDEX pastes_owner ON pastes (user_id, created_at, id)
      WHERE user_id IS NOT NULL AND deletion_initiated_at IS NULL;
    CREATE INDEX pastes_owner_failed ON pastes (user_id, created_at, id)
      WHERE user_id IS NOT NULL AND deletion_initiated_at IS NULL AND failed_at IS NOT NULL;
    CREATE UNIQUE INDEX pastes_slug ON pastes (slug) WHERE slug IS NOT NULL;
    CREATE INDEX pastes_owner_slugs ON pastes (user_id) WHERE slug IS NOT NULL;

    -- How many slugs a user may still take. Creations of one user wait for each other's commits, so that the limit is
    -- exact: each query of a VOLATILE function sees what was committed before it began.
    CREATE FUNCTION slugs_left(of_user uuid, max_slugs integer) RETURNS integer LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_bitmapscan = off AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('pasteflow.slugs'), hashtext(of_user::text));
      RETURN max_slugs - (SELECT count(*) FROM (
        SELECT FROM pastes WHERE user_id = of_user AND slug IS NOT NULL LIMIT max_slugs) AS counted);
    END $$;

    -- The content of a paste until its upload is settled: a row is what counts as IN_PROGRESS. Rows live for seconds,
    -- so that autovacuum runs often. Postgres compresses each row, and moves out only what fits in no page.
    CREATE TABLE paste_payloads (
      paste_id uuid PRIMARY KEY REFERENCES pastes (id) ON DELETE CASCADE,
      content bytea NOT NULL,
      user_id uuid,
      created_at timestamptz NOT NULL DEFAULT now()
    ) WITH (toast_tuple_target = 128, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000,
            toast.autovacuum_vacuum_scale_factor = 0.0, toast.autovacuum_vacuum_threshold = 5000);
    ALTER TABLE paste_payloads ALTER COLUMN content SET STORAGE MAIN;
    -- lz4 costs no CPU time that could be measured, but a Postgres can be built without it.
    DO $$ BEGIN
      ALTER TABLE paste_payloads ALTER COLUMN content SET COMPRESSION lz4;
    EXCEPTION WHEN feature_not_supported THEN
      ALTER TABLE paste_payloads ALTER COLUMN content SET COMPRESSION pglz;
    END $$;
    CREATE INDEX paste_payloads_owner ON paste_payloads (user_id, created_at, paste_id) WHERE user_id IS NOT NULL;

    -- The content of a FAILED paste, so that an operator can retry the upload.
    CREATE TABLE failed_payloads (
      paste_id uuid PRIMARY KEY REFERENCES pastes (id) ON DELETE CASCADE,
      content bytea NOT NULL
    );
    ALTER TABLE failed_payloads ALTER COLUMN content SET STORAGE EXTERNAL;

    -- A row for each retry: the paste that replaced a FAILED one of the same short code. The row of the FAILED one and
    -- those of its executions are gone: the timeline finds their transitions by the ids.
    CREATE TABLE paste_retries (
      retried_from uuid PRIMARY KEY,
      paste_id uuid NOT NULL REFERENCES pastes (id) ON DELETE CASCADE,
      created_at timestamptz NOT NULL,
      failed_at timestamptz NOT NULL,
      failure_reason text NOT NULL,
      retried_at timestamptz NOT NULL DEFAULT now(),
      actor text NOT NULL,
      reason text,
      execution_ids uuid[] NOT NULL DEFAULT '{}'
    );
    CREATE INDEX paste_retries_paste ON paste_retries (paste_id);
  `.execute(db);
}
