import { sql, type Kysely } from 'kysely';

/**
 * The CHECKs bind each column to the states in which it has a value. No index contains `status` or a column
 * that a successful upload changes, so that IN_PROGRESS → PROCESSED is a HOT update within the page
 * (fillfactor reserves the space). The predicates contain the timestamps that only rarer transitions set.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE pastes (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      short_code text COLLATE "C" NOT NULL UNIQUE CHECK (short_code ~ '^[0-9A-Za-z]{1,32}$'),
      user_id uuid REFERENCES users (id),
      title text,
      syntax text,
      status varchar(20) NOT NULL DEFAULT 'IN_PROGRESS',
      content_hash text NOT NULL CHECK (content_hash ~ '^sha256:[0-9a-f]{64}$'),
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
      CONSTRAINT pastes_processed_has_url CHECK ((status = 'PROCESSED') = (s3_url IS NOT NULL)),
      CONSTRAINT pastes_processed_has_time CHECK ((status = 'PROCESSED') = (processed_at IS NOT NULL)),
      CONSTRAINT pastes_failed_has_reason CHECK ((status = 'FAILED') = (failure_reason IS NOT NULL)),
      CONSTRAINT pastes_failed_has_time CHECK ((status = 'FAILED') = (failed_at IS NOT NULL)),
      CONSTRAINT pastes_claimed_has_time CHECK ((deletion_status = 'NOT_EXPIRED') = (deletion_initiated_at IS NULL)),
      CONSTRAINT pastes_deleted_has_time CHECK ((deletion_status = 'DELETED') = (deleted_at IS NOT NULL)),
      CONSTRAINT pastes_claimed_once_settled CHECK (deletion_status = 'NOT_EXPIRED' OR status <> 'IN_PROGRESS')
    ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`.execute(
    db,
  );
  await sql`CREATE INDEX pastes_expiry ON pastes (expires_at, id)
    WHERE deletion_initiated_at IS NULL AND expires_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX pastes_claimed ON pastes (deletion_initiated_at)
    WHERE deletion_initiated_at IS NOT NULL AND deleted_at IS NULL`.execute(db);
  await sql`CREATE INDEX pastes_tombstones ON pastes (deleted_at) WHERE deleted_at IS NOT NULL`.execute(db);
  await sql`CREATE INDEX pastes_failed ON pastes (created_at) WHERE failed_at IS NOT NULL`.execute(db);
}
