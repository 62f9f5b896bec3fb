import { type JobState, type RetryRefusal } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { isThere } from '../schema/pastes.ts';
import type { CreatedJob } from './create-job.ts';

/** What became of a retry. */
export type JobRetry =
  | { readonly kind: 'created'; readonly job: CreatedJob }
  /** Its user has so many open jobs. */
  | { readonly kind: 'too_many_open' }
  | { readonly kind: 'refused'; readonly why: RetryRefusal }
  | { readonly kind: 'not_found' };

const retryable: readonly JobState[] = ['failed', 'partial'];

/** The job j is an import from a paste that its user could not read now. */
const sourceIsGone: RawBuilder<boolean> = sql`(j.parameters ? 'source_short_code' AND NOT EXISTS (
  SELECT FROM pastes p WHERE p.short_code = j.parameters ->> 'source_short_code' AND p.status <> 'FAILED' AND ${isThere('p')}
    AND (p.visibility <> 'private' OR p.for_members OR p.user_id = j.user_id)))`;

/** Its items are deleted. The api of an earlier release sets no `had_content`; every other import has a source. */
const contentIsGone: RawBuilder<boolean> = sql`(j.had_content OR (j.job_type = 'import' AND NOT j.parameters ? 'source_short_code'))`;

/**
 * Retries a job that is `failed` or `partial` (ADR 22): no transition leads out of its state, so a new job
 * with its parameters and its rules takes its place, and each names the other. A job is retried once, and after that its
 * retry is: what one of them has made, no further one makes again.
 *
 * The lock on the job and `retried_as` fence the retry: of two at once, one inserts, and the other finds no
 * row and learns which job the first one made. An erased user has no job that can be retried.
 * @param maxOpen how many open jobs the user may have; null: any number
 * @param maxOfType the same, of the type of the job
 */
export async function retryJob(
  db: Database,
  id: string,
  maxOpen: number | null,
  maxOfType: number | null = null,
): Promise<JobRetry> {
  const { rows } = await sql<{ id: string | null; executionId: string; createdAt: Date }>`
    WITH old AS MATERIALIZED (
      SELECT j.id, j.user_id, j.job_type, j.title, j.parameters, j.expiry_rules FROM jobs j
      WHERE j.id = ${id}::uuid AND j.status = ANY (${retryable}) AND j.retried_as IS NULL AND NOT ${contentIsGone} AND NOT ${sourceIsGone}
        AND user_stands(j.user_id)
      FOR NO KEY UPDATE
    ), taken AS MATERIALIZED (
      SELECT take_job_turn(user_id, ${maxOpen}::integer, job_type, ${maxOfType}::integer) AS turn FROM old
    ), job AS (
      INSERT INTO jobs (user_id, job_type, title, parameters, expiry_rules, retry_of)
      SELECT user_id, job_type, title, parameters, expiry_rules, id FROM old, taken WHERE turn IS NOT NULL
      RETURNING id, user_id, created_at
    ), marked AS (
      UPDATE jobs j SET retried_as = job.id FROM job WHERE j.id = ${id}::uuid
    ), execution AS (
      INSERT INTO task_executions (kind, subject_id, user_id, turn, attempt)
      SELECT 'job', job.id, job.user_id, taken.turn, 1 FROM job, taken
      RETURNING id
    )
    SELECT job.id, execution.id AS "executionId", job.created_at AS "createdAt"
    FROM old LEFT JOIN (job CROSS JOIN execution) ON true`.execute(db);
  const [row] = rows;
  if (row === undefined) return (await readRefusal(db, id)) ?? (await retryJob(db, id, maxOpen, maxOfType));
  return row.id === null ? { kind: 'too_many_open' } : { kind: 'created', job: { ...row, id: row.id } };
}

/** Why a job can't be retried; null: it can, or there is no such job. */
export async function findRetryRefusal(db: Database, id: string): Promise<RetryRefusal | null> {
  const found = await readRefusal(db, id);
  return found?.kind === 'refused' ? found.why : null;
}

/** With a snapshot of its own, which sees the retry that has won. @returns null when nothing refuses a retry */
async function readRefusal(db: Database, id: string): Promise<JobRetry | null> {
  const { rows } = await sql<{
    status: JobState;
    retriedAs: string | null;
    contentIsGone: boolean;
    sourceIsGone: boolean;
    source: string;
  }>`
    SELECT j.status, j.retried_as AS "retriedAs", ${contentIsGone} AS "contentIsGone", ${sourceIsGone} AS "sourceIsGone",
      j.parameters ->> 'source_short_code' AS source
    FROM jobs j JOIN users owner ON owner.id = j.user_id AND owner.erased_at IS NULL
    WHERE j.id = ${id}::uuid`.execute(db);
  const [row] = rows;
  if (row === undefined) return { kind: 'not_found' };
  const { status, retriedAs, source } = row;
  const refused = (why: RetryRefusal) => ({ kind: 'refused', why }) as const;
  if (!retryable.includes(status)) return refused({ kind: 'state', status });
  if (retriedAs !== null) return refused({ kind: 'retried', as: retriedAs });
  if (row.contentIsGone) return refused({ kind: 'content_deleted' });
  if (row.sourceIsGone) return refused({ kind: 'source_gone', shortCode: source });
  return null;
}
