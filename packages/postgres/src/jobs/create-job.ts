import type { House } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface NewJob {
  readonly userId: string;
  readonly jobType: string;
  /** null: none. */
  readonly title?: string | null | undefined;
  /** Plain JSON without NUL, which jsonb refuses. The caller validates. */
  readonly parameters: object;
  /** The parameters that are content of pastes, likewise; null: none. They are kept until the job ends. */
  readonly payload?: object | null;
  /** How long its pastes may be kept, also by its retries when the house has other rules. null: by no rule. */
  readonly expiryRules?: House['expiry'] | null;
}

export interface CreatedJob {
  readonly id: string;
  readonly executionId: string;
  readonly createdAt: Date;
}

/** Inserts a job of a user without a cap on open jobs. */
export async function createJob(db: Database, job: NewJob): Promise<CreatedJob> {
  const created = await createCappedJob(db, job, null);
  if (created === null) throw new Error('createJob: the INSERT returned no row');
  return created;
}

/**
 * Inserts the job and its first execution, PENDING, in one statement, and gives the execution its turn. The
 * 202 is sent after its commit. Of concurrent creations by one user, each waits for the commit of the one
 * before, so the cap is exact.
 * @param maxOpen null: no cap
 * @param maxOfType a cap on the open jobs of this type; null: none
 * @returns null when the user has so many open jobs or is erased; nothing was inserted
 */
export async function createCappedJob(
  db: Database,
  { userId, jobType, title = null, parameters, payload = null, expiryRules = null }: NewJob,
  maxOpen: number | null,
  maxOfType: number | null = null,
): Promise<CreatedJob | null> {
  const { rows } = await sql<CreatedJob>`
    WITH taken AS MATERIALIZED (
      SELECT take_job_turn(${userId}::uuid, ${maxOpen}::integer, ${jobType}::text, ${maxOfType}::integer) AS turn WHERE user_stands(${userId}::uuid)
    ), job AS (
      INSERT INTO jobs (user_id, job_type, title, parameters, payload, had_content, expiry_rules)
      SELECT ${userId}::uuid, ${jobType}, ${title}::text, ${JSON.stringify(parameters)}::jsonb, ${payload && JSON.stringify(payload)}::jsonb, ${payload !== null}, ${expiryRules && JSON.stringify(expiryRules)}::jsonb FROM taken WHERE turn IS NOT NULL
      RETURNING id, user_id, created_at
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, user_id, turn, attempt)
      SELECT 'job', job.id, job.user_id, taken.turn, 1 FROM job, taken
      RETURNING id
    )
    SELECT job.id, execution.id AS "executionId", job.created_at AS "createdAt" FROM job, execution`.execute(
    db,
  );
  return rows[0] ?? null;
}
