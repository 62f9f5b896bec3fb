import { openStatesOf, job, type JobState } from '@pasteflow/domain';
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Page, PageRequest, Place } from '../database/page.ts';
import { listJobs, type ListedJob } from '../jobs/find-jobs.ts';
import { findNewest, MAX_SCANNED, type Source } from './newest-first.ts';

export interface JobsFilter {
  /** null: any. */
  readonly status: JobState | null;
  /** null: any. */
  readonly jobType: string | null;
  /** null: anybody's. */
  readonly userId: string | null;
}

/** A job as operators see it in a list: without what it is to do, and what it has made. */
export type JobOfAnybody = Pick<
  ListedJob,
  'id' | 'user_id' | 'job_type' | 'status' | 'progress' | 'error_message' | 'created_at' | 'completed_at'
>;

/** The janitor may not read the payloads. */
const columns = sql`r.id, r.user_id, r.job_type, r.status, r.progress, r.error_message, r.created_at, r.completed_at`;

/** A page of everybody's jobs, newest first. Those of one user have an index for each filter. */
export async function listJobsOfAll(
  db: Database,
  { status, jobType, userId }: JobsFilter,
  page: PageRequest,
  maxScanned = MAX_SCANNED,
): Promise<Page<JobOfAnybody & { readonly place: Place }>> {
  if (userId !== null) return await listJobs(db, { userId, status, jobType }, page);
  const matches = sql<boolean>`(${status}::text IS NULL OR r.status = ${status}) AND (${jobType}::text IS NULL OR r.job_type = ${jobType})`;
  const source = sourceOf(status);
  return await findNewest<JobOfAnybody>(db, { source, columns, matches }, page, maxScanned);
}

/** Open jobs are few, and may be old. */
function sourceOf(status: JobState | null): Source {
  const isOpen = status !== null && openStatesOf(job).some((state) => state === status);
  return isOpen
    ? {
        read: columns,
        order: 'creation',
        from: sql`jobs r WHERE r.status = ${status} AND r.completed_at IS NULL`,
      }
    : { read: columns, order: 'id', from: sql`jobs r WHERE true` };
}
