import { type JobType, jobTypes } from '@pasteflow/jobs';
import {
  createCappedJob,
  type CreatedJob,
  type Database,
  isErased,
  secondsUntilBytesAllowed,
} from '@pasteflow/postgres';
import { mustBeOneOf } from '@pasteflow/service-kit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import { z } from 'zod';
import type { ApiContext, JobLimits } from '../context.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import { readJson } from '../http/body/json-body.ts';
import type { BudgetOfBodies } from '../http/body/read-body.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { invalidToken } from '../http/callers/authorization.ts';
import { readQuery } from '../http/request/query.ts';

/**
 * A request is parsed and validated as a whole, and its parameters are stored as one value that each attempt
 * reads again. 16 MiB hold one paste of 10 MiB, or a thousand of 16 KiB. Larger imports go into an archive,
 * which is uploaded as a paste.
 */
export const MAX_JOB_BYTES = 16 * 1024 * 1024;

/** As a paste's JSON, and once more as the text of jsonb: see WEIGHTS in receive-paste.ts. */
const JOB_WEIGHT = 3;

export interface NewJob {
  readonly job_type: string;
  readonly title?: string | undefined;
  readonly parameters: object;
}

export const jobTypeNames = [...jobTypes.keys()];

/** Of the lists of jobs. A name of a file has at most 255 bytes. */
const title = z
  .string('must be a text')
  .min(1, 'must not be empty')
  .max(255, 'must have at most 255 characters')
  .optional()
  .meta({ description: 'What lists of jobs call it, such as the name of the file of an import.' });

/** One of the job types, distinguished by job_type. */
export const newJobSchema = unionOf([...jobTypes.values()].map(newJobOf));

const noParameters = z.strictObject({});

/** Reads a job from the body. @throws RequestError for each rule that the request breaks */
export async function receiveJob(
  req: IncomingMessage,
  res: ServerResponse,
  budget: BudgetOfBodies,
): Promise<NewJob> {
  readQuery(req, noParameters);
  return await readJson(req, res, newJobSchema, {
    what: 'the job',
    maxBytes: MAX_JOB_BYTES,
    budget,
    weight: JOB_WEIGHT,
  });
}

function newJobOf({ name, summary, parameters }: JobType) {
  const words = name.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return z
    .strictObject({ job_type: z.literal(name), title, parameters: parameters as z.ZodType<object> })
    .meta({ id: `New${words.join('')}Job`, description: summary });
}

function unionOf([first, ...rest]: readonly ReturnType<typeof newJobOf>[]): z.ZodType<NewJob> {
  if (first === undefined) throw new Error('No job type is listed.');
  return z.discriminatedUnion('job_type', [first, ...rest], {
    error: ({ code }) => (code === 'invalid_union' ? mustBeOneOf(jobTypeNames) : 'must be a JSON object'),
  });
}

/** Inserts a job of a user, unless the user has too many. @throws RequestError rate_limited */
export async function insertJob(
  db: Database,
  userId: string,
  job: NewJob,
  limits: JobLimits,
): Promise<CreatedJob> {
  const { job_type: jobType, title } = job;
  const inserted = await createCappedJob(
    db,
    { userId, jobType, title, ...withContentApart(job) },
    limits.maxOpen,
    maxOpenOf(jobType),
  );
  if (inserted !== null) return inserted;
  throw (await isErased(db, userId)) ? invalidToken() : tooManyOpen(jobType, limits);
}

/** How many jobs of a type one user may have that wait or run; null: as many as jobs of any type. */
export function maxOpenOf(jobType: string): number | null {
  return jobTypes.get(jobType)?.maxOpen ?? null;
}

export function tooManyOpen(jobType: string, { maxOpen }: JobLimits): RequestError {
  const maxOfType = maxOpenOf(jobType);
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
function withContentApart({ job_type: jobType, parameters: given }: NewJob) {
  const content = new Set<PropertyKey>(jobTypes.get(jobType)?.contentParameters);
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
