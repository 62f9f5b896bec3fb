import { MAX_UNREPORTED_LOSSES } from '@pasteflow/domain';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';
import { defaultTimeBounds, type TimeBounds } from '../executions/times-ahead.ts';
import { waitsForPause } from '../executions/work-kinds.ts';
import {
  workAhead,
  MAX_COUNTED,
  strandedWork,
  UNSENT_AFTER_SECONDS,
  waitingExecutions,
} from './open-work.ts';

interface Stuck {
  /**
   * `zombie`: RUNNING past its lease. `stranded`: not at its end, and without an open execution. `unsent`:
   * due, and no message was ever sent. `unclaimed`: due, a message was sent, and no worker has claimed the
   * execution, although its kind is not paused. `ahead`: its time or its lease is further ahead than it can be.
   * `deletion`: claimed for deletion, and neither deleted nor released.
   */
  readonly what: 'zombie' | 'stranded' | 'unsent' | 'unclaimed' | 'ahead' | 'deletion';
  readonly kind: ExecutionKind;
  /** A short code, or the id of a job. */
  readonly subject: string;
  /** null for a deletion and for stranded work. */
  readonly attempt: number | null;
  readonly workerId: string | null;
  /** How long it has been stuck, in seconds; of `ahead`, how long it would be. */
  readonly seconds: number;
}

interface StuckOptions {
  /** The maximum for each value of `what`. The longest stuck come first. */
  readonly limit: number;
  readonly deletionStuckAfterSeconds: number;
  /** Default: those of the default settings. */
  readonly bounds?: TimeBounds;
}

/** A due upload is claimed within 60 s, whatever fails. */
const UNCLAIMED_AFTER_SECONDS = 60;

/**
 * The relay stamps again what it resends, so the index is not in the order of the waits: this many rows are
 * read and sorted.
 */
const MAX_SCANNED = 10_000;

/**
 * The work that is stuck, by name. Reads partial indexes from their start: the cost is about the same on any
 * table and under any backlog. Zombies are found by their lease, which only RUNNING executions have.
 */
export async function findStuck(
  db: Database,
  { limit, deletionStuckAfterSeconds, bounds = defaultTimeBounds }: StuckOptions,
): Promise<readonly Stuck[]> {
  const { rows } = await sql<Stuck>`
    WITH zombie AS MATERIALIZED (
      SELECT 'zombie' AS what, kind, subject_id, attempt, worker_id, lease_expires_at AS since FROM task_executions
      WHERE lease_expires_at IS NOT NULL AND lease_expires_at < now() ORDER BY lease_expires_at LIMIT ${limit}
    ), stranded AS MATERIALIZED (
      SELECT 'stranded', kind, subject_id, NULL::integer, NULL::text, coalesce((
        SELECT max(e.finished_at) FROM task_executions e WHERE e.subject_id = work.subject_id AND e.kind = work.kind), now()) AS since
      FROM (${strandedWork()}) AS work ORDER BY since LIMIT ${limit}
    ), unsent AS MATERIALIZED (
      SELECT 'unsent', kind, subject_id, attempt, NULL::text, run_at
      FROM (${waitingExecutions('unsent', limit)}) AS never_sent
      WHERE run_at < now() - make_interval(secs => ${UNSENT_AFTER_SECONDS}) ORDER BY run_at LIMIT ${limit}
    ), unclaimed AS MATERIALIZED (
      SELECT 'unclaimed', kind, subject_id, attempt, NULL::text, run_at
      FROM (${waitingExecutions('sent', MAX_SCANNED)}) AS sent
      WHERE run_at < now() - make_interval(secs => ${UNCLAIMED_AFTER_SECONDS}) AND NOT ${waitsForPause('sent', UNCLAIMED_AFTER_SECONDS)} ORDER BY run_at LIMIT ${limit}
    ), ahead AS MATERIALIZED (
      SELECT 'ahead', kind, subject_id, attempt, worker_id, now() - (until - now()) FROM (${workAhead(bounds, limit)}) AS too_late
    ), deletion AS MATERIALIZED (
      SELECT 'deletion', 'upload', id, NULL::integer, NULL::text, deletion_initiated_at FROM pastes
      WHERE deletion_initiated_at < now() - make_interval(secs => ${deletionStuckAfterSeconds}) AND deleted_at IS NULL
      ORDER BY deletion_initiated_at LIMIT ${limit}
    ), stuck AS (
      SELECT * FROM zombie UNION ALL SELECT * FROM stranded UNION ALL SELECT * FROM unsent UNION ALL SELECT * FROM unclaimed UNION ALL SELECT * FROM ahead UNION ALL SELECT * FROM deletion
    )
    SELECT what, kind, coalesce(p.short_code, subject_id::text) AS subject, attempt, worker_id AS "workerId",
      extract(epoch FROM now() - since)::float8 AS seconds
    FROM stuck LEFT JOIN pastes p ON kind = 'upload' AND p.id = subject_id
    ORDER BY array_position(ARRAY['zombie', 'stranded', 'unsent', 'unclaimed', 'ahead', 'deletion'], what), seconds DESC`.execute(
    db,
  );
  return rows;
}

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
