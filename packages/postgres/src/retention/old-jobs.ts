import { sql } from 'kysely';
import { isTerminal, job, statesOf } from '@pasteflow/domain';
import { affectedRows } from '../database/affected-rows.ts';
import type { Database } from '../database/database.ts';

const terminal = statesOf(job).filter((state) => isTerminal(job, state));

export interface OldJob {
  readonly id: string;
  /** In microseconds. With the id this is the place after which the next `findOldJobs` continues. */
  readonly completedAt: string;
}

/** A job stays for as long as the job that retries it: a further retry skips what both have made. */
const isNotRetried = sql`NOT EXISTS (SELECT FROM jobs retry WHERE retry.id = jobs.retried_as)`;

/**
 * Up to `limit` jobs that ended more than `retentionSeconds` ago, oldest end first, after the place `after`
 * (null: from the start). Continuing after the last one skips jobs whose objects could not be deleted.
 */
export async function findOldJobs(
  db: Database,
  { retentionSeconds, after, limit }: { retentionSeconds: number; after: OldJob | null; limit: number },
): Promise<readonly OldJob[]> {
  const from =
    after === null
      ? sql`completed_at IS NOT NULL`
      : sql`(completed_at, id) > (${after.completedAt}::timestamptz, ${after.id}::uuid)`;
  const { rows } = await sql<OldJob>`
    SELECT id, completed_at::text AS "completedAt" FROM jobs
    WHERE ${from} AND completed_at < now() - make_interval(secs => ${retentionSeconds}) AND ${isNotRetried}
    ORDER BY completed_at, id LIMIT ${limit}`.execute(db);
  return rows;
}

/**
 * Removes jobs that have ended, with their assets and executions. Pastes that the jobs created stay. A job
 * that another session has locked stays, too, so that it holds up no others.
 * @returns how many jobs it removed
 */
export async function removeJobs(db: Database, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const result = await sql`
    WITH old AS MATERIALIZED (
      SELECT id FROM jobs WHERE id = ANY (${ids}::uuid[]) AND status = ANY (${terminal})
      FOR UPDATE SKIP LOCKED
    )
    DELETE FROM jobs USING old WHERE jobs.id = old.id`.execute(db);
  return affectedRows(result);
}
