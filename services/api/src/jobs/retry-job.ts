import type { Request, Response } from 'express';
import { JobNotFoundError, JobNotRetryableError } from '@pasteflow/domain';
import { retryJob as retry, type CreatedJob, type Database, type JobRow } from '@pasteflow/postgres';
import type { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { countGuesses, queuedJobSchema } from './create-job.ts';
import { findErrors, findNamedJob, namedJob } from './find-named-job.ts';
import { dispatchJob, maxOpenOf, refuseOverImportLimit, tooManyOpen } from './new-job.ts';
import { readEmptyForm } from '../http/body/url-form.ts';
import { goTo } from '../http/pages/page-answers.ts';

/** POST /v1/jobs/:id/retry (ADR 22). */
export function retryJob(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'retryJob',
      tag: 'jobs',
      access: 'user',
      summary: 'Retries a job that is failed or partial, as a new job.',
      description:
        'The new job has the parameters of the old one, and each names the other. An import makes only what is missing; an export begins anew. ' +
        'A job is retried once; after that, its retry is. An import whose items came with the request is not retried.',
      params: { path: namedJob },
      answers: {
        202: jsonResponse('The new job is stored durably. Read its progress at Location.', queuedJobSchema, {
          Location: headers.jobLocation,
        }),
      },
      errors: [...findErrors, 'job_not_retryable'],
    },
    handle: async (req, res) => {
      const old = await findRetried(api, req, res);
      const claim = await api.idempotency.claim(req, res, '');
      if (claim === null) return;
      const { answer, job } = await claim.commit(async (tx) => {
        const made = await retryIn(tx, old, api);
        const queued: z.output<typeof queuedJobSchema> = { job_id: made.id, status: 'queued' };
        const Location = `${api.publicUrl()}/v1/jobs/${made.id}`;
        return { job: made, answer: jsonAnswer(202, queued, { Location }) };
      });
      dispatchJob(api, req, job);
      sendAnswer(res, answer);
    },
  };
}

/** The caller's job that the URL names, after its short codes have counted as they did at its creation. */
async function findRetried(api: ApiContext, req: Request, res: Response): Promise<JobRow> {
  const job = await findNamedJob(api.db, req);
  await countGuesses(api, res, callerOf(req), job);
  return job;
}

/** @throws JobNotRetryableError, RequestError rate_limited */
async function retryIn(db: Database, old: JobRow, api: ApiContext): Promise<CreatedJob> {
  const { jobLimits } = api;
  if (old.job_type === 'import') await refuseOverImportLimit(db, old.user_id, jobLimits);
  const retried = await retry(db, old.id, jobLimits.maxOpen, maxOpenOf(api, old.job_type));
  switch (retried.kind) {
    case 'created':
      return retried.job;
    case 'too_many_open':
      throw tooManyOpen(api, old.job_type);
    case 'refused':
      throw new JobNotRetryableError(retried.why);
    case 'not_found':
      throw new JobNotFoundError();
    default:
      return retried satisfies never;
  }
}

/** POST /my/jobs/:id/retry: retries a job from the form of its page, and goes to the page of the new job. */
export function retryMyJob(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    await readEmptyForm(req, res, api.bodies);
    const old = await findRetried(api, req, res);
    const goToJob = (id: string) => goTo(res, `${api.pages.site(req).base}/my/jobs/${id}`);
    try {
      const job = await retryIn(api.db, old, api);
      dispatchJob(api, req, job);
      goToJob(job.id);
    } catch (error) {
      // The form was sent twice.
      if (!(error instanceof JobNotRetryableError) || error.why.kind !== 'retried') throw error;
      goToJob(error.why.as);
    }
  });
}
