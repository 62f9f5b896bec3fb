import { sql, type Kysely } from 'kysely';

/** What the installation is, what its sweeps did, and what its operators did. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- One row: the identity of this database, which the object pasteflow-owner in the bucket repeats (ADR 26). A dump
    -- and a restore keep it.
    CREATE TABLE installation (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      created_at timestamptz NOT NULL DEFAULT now()
    );
    INSERT INTO installation DEFAULT VALUES;

    -- A row for each time that an operator gave a bucket to this database.
    CREATE TABLE bucket_adoptions (
      at timestamptz NOT NULL DEFAULT now(),
      bucket text NOT NULL,
      previous_owner text,
      adopted_by text NOT NULL,
      objects_found bigint NOT NULL,
      objects_known bigint NOT NULL
    );

    -- The objects that the last complete reconcile found without a live row. A later run deletes them.
    CREATE TABLE orphan_objects (
      key text COLLATE "C" PRIMARY KEY,
      last_modified timestamptz NOT NULL,
      first_seen_at timestamptz NOT NULL,
      last_seen_at timestamptz NOT NULL
    );

    -- The last run of each sweep, on any janitor.
    CREATE TABLE sweep_runs (
      sweep text PRIMARY KEY,
      started_at timestamptz NOT NULL,
      ended_at timestamptz NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('done', 'failed')),
      last_success_at timestamptz,
      seconds double precision NOT NULL,
      counts jsonb NOT NULL,
      janitor text NOT NULL
    ) WITH (fillfactor = 80);

    -- A row for each paste that was taken down. It refers to no other table, so that it stays when the paste is gone.
    CREATE TABLE takedowns (
      paste_id uuid PRIMARY KEY,
      short_code text COLLATE "C" NOT NULL,
      content_hash text NOT NULL,
      class text NOT NULL CHECK (class IN ('illegal', 'copyright', 'malware', 'phishing', 'personal_data', 'spam', 'other')),
      reason text NOT NULL CHECK (reason <> ''),
      actor text NOT NULL,
      taken_down_at timestamptz NOT NULL DEFAULT now()
    );

    -- The content hashes of which no paste is created.
    -- older: the codes of the pastes that had the content before, so that a block repeated after a kill takes down none.
    CREATE TABLE content_blocks (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      content_hash text NOT NULL CHECK (content_hash ~ '^sha256:[0-9a-f]{64}$'),
      class text NOT NULL CHECK (class IN ('illegal', 'copyright', 'malware', 'phishing', 'personal_data', 'spam', 'other')),
      reason text NOT NULL CHECK (reason <> ''),
      actor text NOT NULL,
      blocked_at timestamptz NOT NULL DEFAULT now(),
      unblocked_at timestamptz,
      unblocked_by text,
      unblock_reason text,
      older text[] COLLATE "C" NOT NULL DEFAULT '{}',
      CONSTRAINT content_blocks_lifted CHECK (num_nulls(unblocked_at, unblocked_by, unblock_reason) IN (0, 3))
    );
    CREATE UNIQUE INDEX content_blocks_in_force ON content_blocks (content_hash) WHERE unblocked_at IS NULL;

    -- A row for each action, inserted before the action runs: outcome stays NULL when the process died meanwhile.
    CREATE TABLE operator_actions (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      at timestamptz NOT NULL DEFAULT now(),
      actor text NOT NULL,
      action text NOT NULL,
      subject text,
      reason text NOT NULL CHECK (reason <> ''),
      outcome text
    );
  `.execute(db);
}
