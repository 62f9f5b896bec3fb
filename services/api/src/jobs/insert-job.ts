import { createCappedJob, type CreatedJob, type Database } from '@pasteflow/postgres';
import type { JobLimits } from '../config.ts';
import { refuseOverImportLimit, tooManyOpenJobs } from './job-limits.ts';
import type { NewJob } from './new-job.ts';

/** Inserts a job of a user within the user's limits. @throws RequestError rate_limited */
export async function insertJob(
  db: Database,
  userId: string,
  { job_type: jobType, parameters }: NewJob,
  limits: JobLimits,
): Promise<CreatedJob> {
  if (jobType === 'import') await refuseOverImportLimit(db, userId, limits);
  const inserted = await createCappedJob(db, { userId, jobType, parameters }, limits.maxOpen);
  if (inserted === null) throw tooManyOpenJobs(limits);
  return inserted;
}
