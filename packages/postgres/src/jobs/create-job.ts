import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface NewJob {
  readonly userId: string;
  readonly jobType: string;
  /** Plain JSON without NUL, which jsonb refuses. The caller validates. */
  readonly parameters: object;
}

export interface CreatedJob {
  readonly id: string;
  readonly executionId: string;
  readonly createdAt: Date;
}

/** Inserts the job and its first execution, PENDING, in one statement. The 202 is sent after its commit. */
export async function createJob(db: Database, { userId, jobType, parameters }: NewJob): Promise<CreatedJob> {
  const { rows } = await sql<CreatedJob>`
    WITH job AS (
      INSERT INTO jobs (user_id, job_type, parameters) VALUES (${userId}, ${jobType}, ${JSON.stringify(parameters)}::jsonb)
      RETURNING id, created_at
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, attempt) SELECT 'job', id, 1 FROM job RETURNING id
    )
    SELECT job.id, execution.id AS "executionId", job.created_at AS "createdAt" FROM job, execution`.execute(
    db,
  );
  const [created] = rows;
  if (created === undefined) throw new Error('createJob: the INSERT returned no row');
  return created;
}
