import type { Selectable } from 'kysely';
import type { JobState } from '@pasteflow/domain';
import type { Database } from '../database/database.ts';
import { type AssetsTable, type JobsTable, shownJobColumns } from '../schema/jobs.ts';
import {
  isOlderThan,
  placeOfRow,
  toPage,
  type Page,
  type PageRequest,
  type Place,
} from '../database/page.ts';

export type JobRow = Pick<Selectable<JobsTable>, (typeof shownJobColumns)[number]>;
export type AssetRow = Omit<Selectable<AssetsTable>, 'checkpoint'>;

/** @param id a UUID */
export async function findJob(db: Database, id: string): Promise<JobRow | null> {
  const row = await db.selectFrom('jobs').select(shownJobColumns).where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** The columns that identify a job, its owner, its type and its state. */
export type JobBrief = Pick<JobRow, 'id' | 'user_id' | 'job_type' | 'status'>;

/** As findJob, but without parameters and result, which can be large. @param id a UUID */
export async function findJobBrief(db: Database, id: string): Promise<JobBrief | null> {
  const row = await db
    .selectFrom('jobs')
    .select(['id', 'user_id', 'job_type', 'status'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

/** Without parameters and result: the parameters of a hundred imports can have 1.6 GB. */
export type ListedJob = Omit<JobRow, 'parameters' | 'result'> & { readonly place: Place };

export interface JobFilter {
  readonly userId: string;
  /** null: any. */
  readonly status: JobState | null;
  /** null: any. */
  readonly jobType: string | null;
}

/**
 * A user's jobs, newest first. Each of the four combinations of filters has an index in this order: page
 * 10,000 costs as much as page 1.
 */
export async function listJobs(
  db: Database,
  { userId, status, jobType }: JobFilter,
  { limit, after }: PageRequest,
): Promise<Page<ListedJob>> {
  let jobs = db
    .selectFrom('jobs')
    .select(['id', 'user_id', 'job_type', 'title', 'status', 'progress', 'progress_message', 'error_message'])
    .select(['created_at', 'updated_at', 'completed_at', 'retry_of', 'retried_as', 'had_content'])
    .select(placeOfRow.as('place'))
    .where('user_id', '=', userId);
  if (status !== null) jobs = jobs.where('status', '=', status);
  if (jobType !== null) jobs = jobs.where('job_type', '=', jobType);
  if (after !== null) jobs = jobs.where(isOlderThan(after));
  const rows = await jobs
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, limit);
}

/** The assets of a job, newest first. */
export async function listAssets(
  db: Database,
  jobId: string,
  { limit, after }: PageRequest,
): Promise<Page<AssetRow & { readonly place: Place }>> {
  let assets = db
    .selectFrom('assets')
    .select(['id', 'job_id', 'user_id', 'asset_type', 'url', 'storage_path', 'file_size'])
    .select(['position', 'number', 'created_at'])
    .select(placeOfRow.as('place'))
    .where('job_id', '=', jobId);
  if (after !== null) assets = assets.where(isOlderThan(after));
  const rows = await assets
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  return toPage(rows, limit);
}
