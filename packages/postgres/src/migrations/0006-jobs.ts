import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
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
      CONSTRAINT jobs_completed_has_time
        CHECK ((status IN ('completed', 'partial', 'failed')) = (completed_at IS NOT NULL))
    ) WITH (fillfactor = 80)`.execute(db);
}
