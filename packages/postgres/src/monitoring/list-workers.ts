import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ExecutionKind } from '../schema/executions.ts';

/** Leases that a list reads, the newest first. A worker holds some dozens. */
const MAX_LEASES = 10_000;

/** A process that holds leases. */
export interface Worker {
  /** `upload-worker/HOST/…`, as logs name it too. */
  readonly worker: string;
  readonly uploads: number;
  readonly jobs: number;
  readonly deliveries: number;
  /** When it began the oldest of them. */
  readonly oldestAt: Date;
  /** When its last lease ends: it renews them every few seconds while it lives. */
  readonly leasedUntil: Date;
  /** Leases that have ended: the janitor takes them away. */
  readonly overdue: number;
}

/** The workers that hold leases, by their names. */
export async function listWorkers(db: Database): Promise<readonly Worker[]> {
  const ofKind = (kind: ExecutionKind) => sql`count(*) FILTER (WHERE kind = ${sql.lit(kind)})::integer`;
  const { rows } = await sql<Worker>`
    SELECT worker_id AS worker, ${ofKind('upload')} AS uploads, ${ofKind('job')} AS jobs, ${ofKind('webhook')} AS deliveries,
      min(started_at) AS "oldestAt", max(lease_expires_at) AS "leasedUntil", count(*) FILTER (WHERE lease_expires_at < now())::integer AS overdue
    FROM (SELECT * FROM task_executions WHERE lease_expires_at IS NOT NULL ORDER BY lease_expires_at DESC LIMIT ${MAX_LEASES}) AS leased
    GROUP BY worker_id ORDER BY worker_id COLLATE "C"`.execute(db);
  return rows;
}

/** What a worker is doing. */
export interface HeldLease {
  readonly kind: ExecutionKind;
  /** A short code, or the id of a job or of a delivery. */
  readonly subject: string;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly leasedUntil: Date;
}

/** Up to `limit` leases of a worker, those first that it has held for longest. */
export async function listLeasesOf(
  db: Database,
  worker: string,
  limit: number,
): Promise<readonly HeldLease[]> {
  const { rows } = await sql<HeldLease>`
    SELECT kind, coalesce(p.short_code, subject_id::text) AS subject, attempt, started_at AS "startedAt", lease_expires_at AS "leasedUntil"
    FROM (
      SELECT * FROM (
        SELECT * FROM task_executions WHERE lease_expires_at IS NOT NULL ORDER BY lease_expires_at DESC LIMIT ${MAX_LEASES}) AS leased
      WHERE worker_id = ${worker} ORDER BY started_at, id LIMIT ${limit}) AS held
    LEFT JOIN pastes p ON kind = 'upload' AND p.id = subject_id
    ORDER BY started_at, held.id`.execute(db);
  return rows;
}
