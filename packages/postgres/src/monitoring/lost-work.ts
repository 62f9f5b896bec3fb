import { MAX_UNREPORTED_LOSSES } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';
import { MAX_COUNTED } from './state-figures.ts';

/** An upload or a job that was lost more than `MAX_UNREPORTED_LOSSES` times and has not ended. */
interface LostWork {
  readonly kind: ExecutionKind;
  /** A short code, or the id of a job. */
  readonly subject: string;
  readonly losses: number;
  readonly status: 'PENDING' | 'RUNNING';
  /** When the next attempt is due, or was due. */
  readonly runAt: Date;
  /** The worker that runs the work now; null: none does. */
  readonly workerId: string | null;
}

/**
 * The executions of the partial index task_executions_lost, which has only open executions that were lost
 * often. The planner uses the index because the condition repeats the one of the index, with a literal.
 */
const lostOften = (kind: ExecutionKind): RawBuilder<unknown> =>
  sql`kind = ${sql.lit(kind)} AND losses > ${sql.lit(MAX_UNREPORTED_LOSSES)} AND finished_at IS NULL`;

/**
 * How many uploads and jobs were lost more than `MAX_UNREPORTED_LOSSES` times and have not ended, each
 * counted up to `limit`.
 */
export async function countLostWork(
  db: Database,
  limit = MAX_COUNTED,
): Promise<Readonly<Record<ExecutionKind, number>>> {
  const ofKind = (kind: ExecutionKind) => sql`
    SELECT ${sql.lit(kind)} AS kind, count(*)::integer AS count
    FROM (SELECT FROM task_executions WHERE ${lostOften(kind)} LIMIT ${limit}) AS lost`;
  const { rows } = await sql<{ kind: ExecutionKind; count: number }>`
    ${sql.join(executionKinds.map(ofKind), sql` UNION ALL `)}`.execute(db);
  const counts = { upload: 0, job: 0 };
  for (const { kind, count } of rows) counts[kind] = count;
  return counts;
}

/**
 * Up to `limit` uploads and as many jobs that were lost more than `MAX_UNREPORTED_LOSSES` times, those with
 * most losses first.
 */
export async function findLostWork(db: Database, limit: number): Promise<readonly LostWork[]> {
  const ofKind = (kind: ExecutionKind) => sql`(
    SELECT kind, subject_id, losses, status, run_at, worker_id FROM task_executions
    WHERE ${lostOften(kind)} ORDER BY losses DESC LIMIT ${limit})`;
  const { rows } = await sql<LostWork>`
    WITH lost AS MATERIALIZED (${sql.join(executionKinds.map(ofKind), sql` UNION ALL `)})
    SELECT lost.kind, coalesce(p.short_code, lost.subject_id::text) AS subject, lost.losses, lost.status, lost.run_at AS "runAt",
      lost.worker_id AS "workerId"
    FROM lost LEFT JOIN pastes p ON lost.kind = 'upload' AND p.id = lost.subject_id
    ORDER BY lost.losses DESC, subject`.execute(db);
  return rows;
}
