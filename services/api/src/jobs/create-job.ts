import type { Request, Response } from 'express';
import { findPaste } from '@pasteflow/postgres';
import { canRead } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { limitKeyOf, type Caller } from '../http/callers/caller.ts';
import { jsonBodyErrors } from '../http/body/json-body.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { callerOf, requireUser } from '../http/callers/caller-of.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../http/openapi/endpoint.ts';
import { jsonResponse, uuid } from '../http/openapi/formats.ts';
import type { JobTypes, NewJob } from '../job-types.ts';
import { refuseBrokenRules } from './import-rules.ts';
import { example } from './job-view.ts';
import { dispatchJob, insertJob, MAX_JOB_BYTES, receiveJob, refuseOverImportLimit } from './new-job.ts';

export const queuedJobSchema = z.object({ job_id: uuid, status: z.literal('queued') }).meta({
  id: 'QueuedJob',
  description: 'A new job.',
  examples: [{ job_id: example.id, status: 'queued' }],
});

const operationOf = ({ byName, newJobSchema }: JobTypes): Operation => ({
  operationId: 'createJob',
  tag: 'jobs',
  access: 'user',
  summary: 'Creates a job, which runs in the background.',
  body: {
    required: true,
    description: `The type of the job and its parameters, in at most ${MAX_JOB_BYTES} bytes.`,
    content: {
      'application/json': {
        schema: newJobSchema,
        examples: Object.fromEntries(
          [...byName.values()].map(({ name, summary, example: parameters }) => [
            name,
            { summary, value: { job_type: name, parameters } },
          ]),
        ),
      },
    },
  },
  answers: {
    202: jsonResponse('The job is stored durably. Read its progress at Location.', queuedJobSchema, {
      Location: headers.jobLocation,
    }),
  },
  errors: [...jsonBodyErrors, 'request_timeout', 'dependency_unavailable'],
});

/** POST /v1/jobs. The commit is the promise behind the 202; the message follows it. */
export function createJob(api: ApiContext): Endpoint {
  return { operation: operationOf(api.jobTypes), handle: (req, res) => create(api, req, res) };
}

/** Receive, claim the Idempotency-Key, check the limits, insert, dispatch, answer. */
async function create(api: ApiContext, req: Request, res: Response): Promise<void> {
  const caller = callerOf(req);
  const userId = requireUser(req);
  const job = await receiveJob(api, req, res);
  await countGuesses(api, res, caller, job);

  const { job_type: jobType, parameters } = job;
  const claim = await api.idempotency.claim(req, res, JSON.stringify([jobType, parameters]));
  if (claim === null) return;
  const { answer, ...inserted } = await claim.commit(async (db) => {
    if (jobType === 'import') {
      refuseBrokenRules(api, parameters);
      await refuseOverImportLimit(db, userId, api.jobLimits);
    }
    const inserted = await insertJob(api, db, userId, job);
    const queued: z.output<typeof queuedJobSchema> = { job_id: inserted.id, status: 'queued' };
    const Location = `${api.publicUrl()}/v1/jobs/${inserted.id}`;
    return { ...inserted, answer: jsonAnswer(202, queued, { Location }) };
  });

  dispatchJob(api, req, inserted);
  sendAnswer(res, answer);
}

/**
 * Counts the short codes in a job's parameters that its user can't read. How such a job ends reveals whether
 * the paste exists, so each counts as a miss, as a read of it does. The job is created all the same.
 * @throws RequestError rate_limited for a caller with too many misses
 */
export async function countGuesses(
  { db, jobTypes, limits }: ApiContext,
  res: Response,
  caller: Caller,
  { job_type: jobType, parameters }: Pick<NewJob, 'job_type' | 'parameters'>,
): Promise<void> {
  const shortCodes = jobTypes.byName.get(jobType)?.readShortCodes(parameters) ?? [];
  if (shortCodes.length === 0) return;
  limits.refuseUsedUp(res, 'misses', limitKeyOf(caller));
  const userId = caller.kind === 'user' ? caller.userId : null;
  for (const shortCode of shortCodes) {
    const paste = await findPaste(db, shortCode);
    const isMiss = paste === null || paste.status === 'FAILED' || !canRead(paste, userId);
    if (isMiss) await limits.countMiss(res, limitKeyOf(caller));
  }
}
