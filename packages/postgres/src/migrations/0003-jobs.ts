import { sql, type Kysely } from 'kysely';

/** Jobs and what they made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- payload: parameters that are content of pastes. No view shows it, and the statement that ends the job deletes it.
    CREATE TABLE jobs (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      user_id uuid NOT NULL REFERENCES users (id),
      job_type text NOT NULL,
      status varchar(20) NOT NULL DEFAULT 'queued',
      progress integer NOT NULL DEFAULT 0 CHECK (progress BETWEEN 0 AND 100),
      progress_message text,
      error_message text,
      parameters jsonb NOT NULL DEFAULT '{}',
      result jsonb,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      completed_at timestamptz,
      payload jsonb,
      CONSTRAINT jobs_completed_has_time
        CHECK ((status IN ('completed', 'partial', 'failed')) = (completed_at IS NOT NULL)),
      CONSTRAINT jobs_payload_until_end CHECK (payload IS NULL OR completed_at IS NULL)
    ) WITH (fillfactor = 80);
    -- The orders of an owner's lists.
    CREATE INDEX jobs_owner ON jobs (user_id, created_at, id);
    CREATE INDEX jobs_owner_status ON jobs (user_id, status, created_at, id);
    CREATE INDEX jobs_owner_type ON jobs (user_id, job_type, created_at, id);
    CREATE INDEX jobs_owner_type_status ON jobs (user_id, job_type, status, created_at, id);
    -- The order in which the sweep removes jobs, and the open ones for the metrics.
    CREATE INDEX jobs_completed ON jobs (completed_at, id) WHERE completed_at IS NOT NULL;
    CREATE INDEX jobs_open ON jobs (status, created_at) WHERE completed_at IS NULL;

    -- position: the entry of the input that the asset was made from. The next attempt skips the entries that are done.
    CREATE TABLE assets (
      id uuid PRIMARY KEY DEFAULT uuid_v7(),
      job_id uuid NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
      user_id uuid NOT NULL REFERENCES users (id),
      asset_type text NOT NULL,
      url text NOT NULL,
      storage_path text NOT NULL,
      file_size bigint NOT NULL CHECK (file_size >= 0),
      position integer CHECK (position >= 0),
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX assets_job ON assets (job_id, created_at, id);
    CREATE UNIQUE INDEX assets_position ON assets (job_id, position) WHERE position IS NOT NULL;
    -- The objects in the folders of jobs, in the order in which S3 lists them. Assets of an entry are with the pastes.
    CREATE INDEX assets_stored ON assets (storage_path COLLATE "C") WHERE position IS NULL;

    -- The result of a job whose own run can't write it any more: the number of its assets and, of those made from an
    -- entry, the positions as runs from first to last, a thousand of them. NULL for a job without assets.
    -- VOLATILE: it sees assets that were committed while its caller waited for the lock. By a bitmap scan, 10,000
    -- assets are 306 pages, whatever the statistics say.
    CREATE FUNCTION made_by_job(job uuid) RETURNS jsonb LANGUAGE sql VOLATILE
      SET enable_seqscan = off SET enable_indexscan = off AS $$
      WITH made AS MATERIALIZED (
        SELECT position FROM assets WHERE job_id = job
      ), run AS (
        SELECT min(position) AS first, max(position) AS last
        FROM (SELECT position, position - row_number() OVER (ORDER BY position) AS run FROM made WHERE position IS NOT NULL) AS numbered
        GROUP BY run ORDER BY first LIMIT 1000
      )
      SELECT jsonb_strip_nulls(jsonb_build_object(
        'assets', count(*), 'positions', (SELECT jsonb_agg(jsonb_build_array(first, last) ORDER BY first) FROM run)))
      FROM made HAVING count(*) > 0
    $$;
  `.execute(db);
}
