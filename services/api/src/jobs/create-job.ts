import type { Request } from 'express';
import { createJob as insertJob } from '@pasteflow/postgres';
import { jobTypes } from '@pasteflow/jobs';
import type { MessageDispatcher, OutgoingJob } from '@pasteflow/sqs';
import { z } from 'zod';
import { requireUser } from '../identity/caller-of.ts';
import { jsonAnswer } from '../http/response/answer.ts';
import { contextOf, messageContextOf } from '../http/request/request-context.ts';
import type { Once } from '../idempotency/once.ts';
import * as headers from '../openapi/answer-headers.ts';
import type { Endpoint, Operation } from '../openapi/endpoint.ts';
import { uuid } from '../openapi/formats.ts';
import { countGuesses, type CountGuessesDependencies } from './count-guesses.ts';
import { example } from './example.ts';
import { MAX_JOB_BYTES, newJobSchema, receiveJob } from './new-job.ts';

export interface CreateJobDependencies extends CountGuessesDependencies {
  readonly once: Once;
  readonly jobDispatcher: Pick<MessageDispatcher<OutgoingJob>, 'dispatch'>;
  readonly publicUrl: () => string;
}

const queuedJobSchema = z.object({ job_id: uuid, status: z.literal('queued') }).meta({
  id: 'QueuedJob',
  description: 'A new job.',
  examples: [{ job_id: example.id, status: 'queued' }],
});

const operation: Operation = {
  operationId: 'createJob',
  tag: 'jobs',
  access: 'user',
  summary: 'Creates a job, which is then worked off in the background.',
  body: {
    required: true,
    description: `The kind of job and its parameters, in up to ${MAX_JOB_BYTES} bytes.`,
    content: {
      'application/json': {
        schema: newJobSchema,
        examples: Object.fromEntries(
          [...jobTypes.values()].map(({ name, summary, example: parameters }) => [
            name,
            { summary, value: { job_type: name, parameters } },
          ]),
        ),
      },
    },
  },
  answers: {
    202: {
      description: 'Accepted for good; Location tells how far it is.',
      headers: z.object({ Location: headers.jobLocation }),
      content: { 'application/json': { schema: queuedJobSchema } },
    },
  },
  errors: [
    'content_too_large',
    'validation_failed',
    'unsupported_media_type',
    'unsupported_encoding',
    'dependency_unavailable',
  ],
};

/** POST /v1/jobs: J7. The commit is the promise behind the 202; the message follows it. */
export function createJob(deps: CreateJobDependencies): Endpoint {
  const { once, jobDispatcher, publicUrl } = deps;
  return {
    operation,
    handle: async (req, res) => {
      const job = await receiveJob(req, res);
      await countGuesses(deps, req, res, job);
      const { job_type: jobType, parameters } = job;
      const userId = requireUser(req);
      await once(req, res, {
        said: JSON.stringify([jobType, parameters]),
        create: (db) => insertJob(db, { userId, jobType, parameters }),
        answer: ({ id }) =>
          jsonAnswer(202, { job_id: id, status: 'queued' } satisfies z.output<typeof queuedJobSchema>, {
            Location: `${publicUrl()}/v1/jobs/${id}`,
          }),
        committed: ({ id, executionId }) => dispatch(req, { id, executionId }),
      });
    },
  };

  function dispatch(req: Request, { id, executionId }: { id: string; executionId: string }): void {
    contextOf(req).jobId = id;
    jobDispatcher.dispatch({ executionId, jobId: id, context: messageContextOf(req) });
  }
}
