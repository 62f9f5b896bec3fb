import type { Request } from 'express';
import { isUuid, JobForbiddenError, JobNotFoundError } from '@pasteflow/domain';
import { findJob, findJobBrief, type Database, type JobBrief, type JobRow } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { contextOf } from '../http/request/request-context.ts';
import { uuid } from '../http/openapi/formats.ts';
import { example } from './job-view.ts';

/** The parameters of a path that names a job. */
export const namedJob = z.object({
  id: uuid.meta({
    param: {
      id: 'JobId',
      description: 'The job_id from the answer that created the job.',
      example: example.id,
    },
  }),
});

/** The errors of finding a job by its id. */
export const findErrors = [
  'job_not_found',
  'job_forbidden',
  'dependency_unavailable',
] as const satisfies ProblemCode[];

/** The caller's job that the URL names. @throws JobNotFoundError, JobForbiddenError */
export async function findNamedJob(db: Database, req: Request): Promise<JobRow> {
  return assertOwn(await findJob(db, namedId(req)), req);
}

/** As findNamedJob, without the columns that may be long. */
export async function findNamedJobBrief(db: Database, req: Request): Promise<JobBrief> {
  return assertOwn(await findJobBrief(db, namedId(req)), req);
}

/** Texts that are not UUIDs never reach the database. */
function namedId(req: Request): string {
  const id = String(req.params.id);
  if (!isUuid(id.toLowerCase())) throw new JobNotFoundError();
  contextOf(req).jobId = id;
  return id;
}

function assertOwn<Job extends JobBrief>(job: Job | null, req: Request): Job {
  if (job === null) throw new JobNotFoundError();
  if (job.user_id !== requireUser(req)) throw new JobForbiddenError();
  return job;
}
