import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database.ts';
import { retryable } from '../pastes/retry-failed.ts';
import {
  MAX_COUNTED,
  UNSENT_AFTER_SECONDS,
  strandedWork,
  waitingDeliveries,
  waitingExecutions,
  workAhead,
} from './open-work.ts';
import { ALL_REFUSED, MAX_UNREPORTED_LOSSES, parseReason, storedReason } from '@pasteflow/domain';
import { executionKinds, type ExecutionKind } from '../schema/executions.ts';
import { defaultTimeBounds, type TimeBounds } from '../executions/times-ahead.ts';
import { waitsForPause } from '../executions/work-kinds.ts';

/** The FAILED pastes of one reason that can be retried. */
interface FailedCause {
  readonly reason: string;
  readonly count: number;
  readonly oldestAt: Date;
  readonly newestAt: Date;
}

/** What is left under further reasons is shown once these are retried. */
const MAX_CAUSES = 20;

/** Why the FAILED pastes that can be retried have failed: the most frequent reasons first. */
export async function listFailedCauses(db: Database, limit = MAX_COUNTED): Promise<readonly FailedCause[]> {
  const { rows } = await sql<FailedCause>`
    SELECT reason, count(*)::integer AS count, min(failed_at) AS "oldestAt", max(failed_at) AS "newestAt"
    FROM (SELECT p.failure_reason AS reason, p.failed_at FROM ${retryable({})} LIMIT ${limit}) AS failed
    GROUP BY reason ORDER BY count(*) DESC, reason LIMIT ${MAX_CAUSES}`.execute(db);
  return rows;
}

/** The pastes with open reports. */
interface ReportedFigures {
  readonly pastes: number;
  /** Those among them that only their owners read. */
  readonly held: number;
  /** The time of the oldest open report; null: there is none. */
  readonly oldestAt: Date | null;
}

export async function countReported(db: Database, limit = MAX_COUNTED): Promise<ReportedFigures> {
  const { rows } = await sql<ReportedFigures>`
    SELECT count(*)::integer AS pastes, count(*) FILTER (WHERE held_at IS NOT NULL)::integer AS held, min(since) AS "oldestAt"
    FROM (SELECT r.paste_id, min(r.created_at) AS since
      FROM (SELECT paste_id, created_at FROM paste_reports WHERE judged_at IS NULL ORDER BY created_at LIMIT ${limit}) AS r
      GROUP BY r.paste_id) AS reported JOIN pastes p ON p.id = reported.paste_id`.execute(db);
  return rows[0] ?? { pastes: 0, held: 0, oldestAt: null };
}

interface Stuck {
  /**
   * `zombie`: RUNNING past its lease. `stranded`: not at its end, and without an open execution. `unsent`:
   * due, and no message was ever sent. `unclaimed`: due, and no worker has claimed the execution, although a
   * message was sent, or none is needed, and its kind is not paused. `ahead`: its time or its lease is further ahead than it can be.
   * `deletion`: claimed for deletion, and neither deleted nor released.
   */
  readonly what: 'zombie' | 'stranded' | 'unsent' | 'unclaimed' | 'ahead' | 'deletion';
  readonly kind: ExecutionKind;
  /** A short code, or the id of a job or of a delivery. */
  readonly subject: string;
  /** null for a deletion and for stranded work. */
  readonly attempt: number | null;
  readonly workerId: string | null;
  /** How long it has been stuck, in seconds; of `ahead`, how long it would be. */
  readonly seconds: number;
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
  {
    limit,
    deletionStuckAfterSeconds,
    bounds = defaultTimeBounds,
  }: {
    /** The maximum for each value of `what`. The longest stuck come first. */
    readonly limit: number;
    readonly deletionStuckAfterSeconds: number;
    /** Default: those of the default settings. */
    readonly bounds?: TimeBounds;
  },
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
      FROM (SELECT kind, subject_id, attempt, run_at FROM (${waitingExecutions('sent', MAX_SCANNED)}) AS sent UNION ALL (${waitingDeliveries()})) AS due
      WHERE run_at < now() - make_interval(secs => ${UNCLAIMED_AFTER_SECONDS}) AND NOT ${waitsForPause('due', UNCLAIMED_AFTER_SECONDS)} ORDER BY run_at LIMIT ${limit}
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

/** An upload, a job or a delivery that was lost more than `MAX_UNREPORTED_LOSSES` times and has not ended. */
interface LostWork {
  readonly kind: ExecutionKind;
  /** A short code, or the id of a job or of a delivery. */
  readonly subject: string;
  readonly losses: number;
  readonly status: 'PENDING' | 'RUNNING';
  /** When the next attempt is due, or was due. */
  readonly runAt: Date;
  /** The worker that runs the work now; null: none does. */
  readonly workerId: string | null;
}

/**
 * The condition of the partial index task_executions_lost, which has only open executions that were lost often.
 */
const lostOften = (kind: ExecutionKind): RawBuilder<unknown> =>
  sql`kind = ${sql.lit(kind)} AND losses > ${sql.lit(MAX_UNREPORTED_LOSSES)} AND finished_at IS NULL`;

/**
 * How many uploads, jobs and deliveries of webhooks were lost more than `MAX_UNREPORTED_LOSSES` times and have not ended, each
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
  const counts = { upload: 0, job: 0, webhook: 0 };
  for (const { kind, count } of rows) counts[kind] = count;
  return counts;
}

/**
 * Up to `limit` of each kind of work that were lost more than `MAX_UNREPORTED_LOSSES` times, those with
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

/** Uploads that wait because S3 refuses everything that the workers send. */
export interface RefusedUploads {
  /** What S3 answered: `S3 answered 403 InvalidAccessKeyId`. */
  readonly answer: string;
  /** Among the oldest uploads. */
  readonly count: number;
}

/** The oldest uploads were tried before those that wait behind them. */
const MAX_OLDEST = 100;

/** The most frequent answer comes first. */
export async function findRefusedUploads(db: Database): Promise<readonly RefusedUploads[]> {
  const { rows } = await sql<{ error: string; count: number }>`
    SELECT last.error, count(*)::integer AS count
    FROM (SELECT paste_id FROM paste_payloads ORDER BY paste_id LIMIT ${MAX_OLDEST}) AS oldest
      CROSS JOIN LATERAL (
        SELECT e.error FROM task_executions e WHERE e.subject_id = oldest.paste_id AND e.kind = 'upload' AND e.finished_at IS NOT NULL
        ORDER BY e.finished_at DESC, e.id DESC LIMIT 1) AS last
    WHERE starts_with(last.error, ${storedReason('storage_refused', ALL_REFUSED)})
    GROUP BY 1 ORDER BY 2 DESC, 1`.execute(db);
  return rows.map(({ error, count }) => ({ answer: answerIn(error), count }));
}

function answerIn(error: string): string {
  return (parseReason(error).text ?? error).slice(`${ALL_REFUSED}: `.length);
}

export const snapshotHolderKinds = ['session', 'prepared_transaction', 'slot', 'standby'] as const;

/** What keeps Postgres from removing dead rows; a replication slot also keeps WAL. */
export interface SnapshotHolder {
  readonly kind: (typeof snapshotHolderKinds)[number];
  /** The application name of a session (its user, if it has none) or of a standby; else the name of its own. */
  readonly name: string;
  /** null: no process. */
  readonly pid: number | null;
  /** The transaction, or the place in the WAL, that it keeps. Another one: it has moved on. */
  readonly keeps: string;
}

/**
 * Everything that holds a snapshot at this moment, which most do for milliseconds. A role without rights of
 * its own sees these columns of the sessions of all roles, though not since when they are so. An autovacuum
 * has no user, and holds up no other.
 */
export async function findSnapshotHolders(db: Database): Promise<readonly SnapshotHolder[]> {
  const { rows } = await sql<SnapshotHolder>`
    SELECT * FROM (
      SELECT CASE WHEN sender.pid IS NULL THEN 'session' ELSE 'standby' END AS kind,
        coalesce(nullif(application_name, ''), usename) AS name, session.pid, unnest(ARRAY[backend_xid, backend_xmin])::text AS keeps
      FROM pg_stat_activity session LEFT JOIN pg_stat_get_wal_senders() sender USING (pid)
      WHERE usename IS NOT NULL AND pid <> pg_backend_pid() AND (datname = current_database() OR sender.pid IS NOT NULL)
      UNION ALL
      SELECT 'prepared_transaction', gid, NULL, transaction::text FROM pg_prepared_xacts WHERE database = current_database()
      UNION ALL
      SELECT 'slot', slot_name, active_pid, unnest(ARRAY[xmin::text, catalog_xmin::text, restart_lsn::text]) FROM pg_replication_slots
    ) AS holder WHERE keeps IS NOT NULL`.execute(db);
  return rows;
}
