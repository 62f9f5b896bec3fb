import type { Database } from '@pasteflow/postgres';
import type { Endpoint } from '../openapi/endpoint.ts';
import { findErrors, findNamedJob, namedJob } from './find-named-job.ts';
import { jobSchema, viewOf } from './job-view.ts';

/** GET /v1/jobs/:id: how far it is, and what came of it. */
export function readJob({ db }: { db: Database }): Endpoint {
  return {
    operation: {
      operationId: 'readJob',
      tag: 'jobs',
      access: 'user',
      summary: 'Shows a job: how far it is, and what came of it.',
      params: { path: namedJob },
      answers: { 200: { description: 'The job.', content: { 'application/json': { schema: jobSchema } } } },
      errors: findErrors,
    },
    handle: async (req, res) => {
      res.json(viewOf(await findNamedJob(db, req)));
    },
  };
}
