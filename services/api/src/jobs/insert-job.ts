import { jobTypes } from '@pasteflow/jobs';
import { createCappedJob, type CreatedJob, type Database } from '@pasteflow/postgres';
import { tooManyOpenJobs, type JobLimits } from './job-limits.ts';
import type { NewJob } from './new-job.ts';

/** Inserts a job of a user, unless the user has too many. @throws RequestError rate_limited */
export async function insertJob(
  db: Database,
  userId: string,
  job: NewJob,
  limits: JobLimits,
): Promise<CreatedJob> {
  const { job_type: jobType } = job;
  const inserted = await createCappedJob(db, { userId, jobType, ...withContentApart(job) }, limits.maxOpen);
  if (inserted === null) throw tooManyOpenJobs(limits);
  return inserted;
}

/** The parameters that are content of pastes, as a payload, and the others. */
function withContentApart({ job_type: jobType, parameters: given }: NewJob) {
  const content = new Set<PropertyKey>(jobTypes.get(jobType)?.contentParameters);
  const entries = Object.entries(given);
  const payload = Object.fromEntries(entries.filter(([name]) => content.has(name)));
  return {
    parameters: Object.fromEntries(entries.filter(([name]) => !content.has(name))),
    payload: Object.keys(payload).length === 0 ? null : payload,
  };
}
