import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { retryable } from '../pastes/retry-failed.ts';
import { MAX_COUNTED } from './open-work.ts';

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
