import type { IncomingMessage, ServerResponse } from 'node:http';
import { jobTypes, type JobType } from '@pasteflow/jobs';
import { mustBeOneOf } from '@pasteflow/service-kit';
import { z } from 'zod';
import { assertUtf8, mediaTypeOf } from '../http/request/media-type.ts';
import { readQuery } from '../http/request/query.ts';
import { readBody, type BudgetOfBodies } from '../http/body/read-body.ts';
import { RequestError, validate } from '../http/errors/request-error.ts';
import { parseStorableJson } from '../http/body/storable-json.ts';

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
  readonly parameters: object;
}

export const jobTypeNames = [...jobTypes.keys()];

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
  const mediaType = mediaTypeOf(req);
  if (mediaType.type !== 'application/json') {
    throw new RequestError('unsupported_media_type', 'Send the job as application/json.');
  }
  assertUtf8(mediaType);
  const tooLarge = (): RequestError =>
    new RequestError('content_too_large', `Send at most ${MAX_JOB_BYTES} bytes of JSON.`);
  const body = await readBody(req, res, { maxBytes: MAX_JOB_BYTES, tooLarge, budget, weight: JOB_WEIGHT });
  return validate(newJobSchema, parseStorableJson(body));
}

function newJobOf({ name, summary, parameters }: JobType) {
  return z
    .strictObject({ job_type: z.literal(name), parameters: parameters as z.ZodType<object> })
    .meta({ id: `New${name[0]?.toUpperCase()}${name.slice(1)}Job`, description: summary });
}

function unionOf([first, ...rest]: readonly ReturnType<typeof newJobOf>[]): z.ZodType<NewJob> {
  if (first === undefined) throw new Error('No job type is listed.');
  return z.discriminatedUnion('job_type', [first, ...rest], {
    error: ({ code }) => (code === 'invalid_union' ? mustBeOneOf(jobTypeNames) : 'must be a JSON object'),
  });
}
