import {
  createCappedJob,
  type CreatedJob,
  type Database,
  isErased,
  secondsUntilBytesAllowed,
} from '@pasteflow/postgres';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { z } from 'zod';
import type { ApiContext, JobLimits } from '../context.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { readJson } from '../http/body/json-body.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { invalidToken } from '../http/callers/authorization.ts';
import { readQuery } from '../http/request/query.ts';
import type { NewJob } from '../job-types.ts';

/**
 * A request is parsed and validated as a whole, and its parameters are stored as one value that each attempt
 * reads again. 16 MiB hold one paste of 10 MiB, or a thousand of 16 KiB. Larger imports go into an archive,
 * which is uploaded as a paste.
 */
export const MAX_JOB_BYTES = 16 * 1024 * 1024;

/** As a paste's JSON, and once more as the text of jsonb: see WEIGHTS in receive-paste.ts. */
const JOB_WEIGHT = 3;

const noParameters = z.strictObject({});

/** Reads a job from the body. @throws RequestError for each rule that the request breaks */
export async function receiveJob(
  { bodies: budget, jobTypes }: ApiContext,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<NewJob> {
  readQuery(req, noParameters);
  return await readJson(req, res, jobTypes.newJobSchema, {
    what: 'the job',
    maxBytes: MAX_JOB_BYTES,
    budget,
    weight: JOB_WEIGHT,
  });
}

/** Inserts a job of a user, unless the user has too many. @throws RequestError rate_limited */
export async function insertJob(
  api: JobRules,
  db: Database,
  userId: string,
  job: NewJob,
): Promise<CreatedJob> {
  const { job_type: jobType, title } = job;
  const inserted = await createCappedJob(
    db,
    {
      userId,
      jobType,
      title,
      ...withContentApart(api, job),
      expiryRules: jobType === 'import' ? api.house.expiry : null,
    },
    api.jobLimits.maxOpen,
    maxOpenOf(api, jobType),
  );
  if (inserted !== null) return inserted;
  throw (await isErased(db, userId)) ? invalidToken() : tooManyOpen(api, jobType);
}

type JobRules = Pick<ApiContext, 'house' | 'jobLimits' | 'jobTypes'>;

/** How many jobs of a type one user may have that wait or run; null: as many as jobs of any type. */
export function maxOpenOf({ jobTypes }: JobRules, jobType: string): number | null {
  return jobTypes.byName.get(jobType)?.maxOpen ?? null;
}

export function tooManyOpen(api: JobRules, jobType: string): RequestError {
  const { maxOpen } = api.jobLimits;
  const maxOfType = maxOpenOf(api, jobType);
  const ofAny = maxOpen === null ? [] : [`${maxOpen} jobs`];
  const ofType =
    maxOfType === null || (maxOpen !== null && maxOpen <= maxOfType)
      ? []
      : [`${maxOfType} of the type ${jobType}`];
  const which = [...ofAny, ...ofType].join(', or ');
  return rateLimited(
    `You have ${which}${ofType.length > 0 ? ',' : ''} that wait or run. Wait until one of them has ended.`,
    OPEN_JOBS_RETRY_SECONDS,
  );
}

/** The parameters that are content of pastes, as a payload, and the others. */
function withContentApart({ jobTypes }: JobRules, { job_type: jobType, parameters: given }: NewJob) {
  const content = new Set<PropertyKey>(jobTypes.byName.get(jobType)?.contentParameters);
  const entries = Object.entries(given);
  const payload = Object.fromEntries(entries.filter(([name]) => content.has(name)));
  return {
    parameters: Object.fromEntries(entries.filter(([name]) => !content.has(name))),
    payload: Object.keys(payload).length === 0 ? null : payload,
  };
}

/** The time of a short job. How long the user's own jobs take is not known. */
const OPEN_JOBS_RETRY_SECONDS = 10;

/** @throws RequestError rate_limited when the user's pastes have used up their bytes of the hour */
export async function refuseOverImportLimit(
  db: Database,
  userId: string,
  { maxBytesPerHour: max }: JobLimits,
): Promise<void> {
  const seconds = max === null ? null : await secondsUntilBytesAllowed(db, userId, max);
  if (seconds === null) return;
  const wait = Math.max(1, Math.ceil(seconds));
  throw rateLimited(`The limit of ${max} bytes per hour is used up. Try again in ${wait} s.`, wait);
}

function rateLimited(detail: string, retryAfterSeconds: number): RequestError {
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } });
}

/** Sends the message of a job that is committed. */
export function dispatchJob(
  { jobDispatcher }: ApiContext,
  req: Request,
  { id, executionId }: Pick<CreatedJob, 'id' | 'executionId'>,
): void {
  const context = contextOf(req);
  context.jobId = id;
  jobDispatcher.dispatch({ executionId, jobId: id, context: messageContextOf(context) });
}
