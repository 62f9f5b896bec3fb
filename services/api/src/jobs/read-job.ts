import { isTerminal, job } from '@pasteflow/domain';
import type { Database } from '@pasteflow/postgres';
import { z } from 'zod';
import { preferenceApplied, preferWait } from '../live/live-documents.ts';
import type { Live } from '../live/live.ts';
import { readWaiting } from '../live/read-waiting.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { jsonResponse } from '../openapi/formats.ts';
import { findErrors, findNamedJob, namedJob } from './find-named-job.ts';
import { jobSchema, viewOf } from './job-view.ts';

/**
 * GET /v1/jobs/:id: the progress and the result of a job. With `Prefer: wait`, the answer waits until the job
 * has ended.
 */
export function readJob({ db, live }: { db: Database; live: Live }): Endpoint {
  return {
    operation: {
      operationId: 'readJob',
      tag: 'jobs',
      access: 'user',
      summary: 'Reads a job: its status, its progress and its result.',
      params: { path: namedJob, header: preferWait },
      answers: {
        200: {
          ...jsonResponse('The job.', jobSchema),
          headers: z.object({ 'Preference-Applied': preferenceApplied }),
        },
      },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const found = await readWaiting(live, req, res, {
        kind: 'job',
        find: () => findNamedJob(db, req),
        isSettled: ({ status }) => isTerminal(job, status),
      });
      if (found !== null) res.json(viewOf(found));
    },
  };
}
