import { readJobTimeline as findTimeline, type Database } from '@pasteflow/postgres';
import type { Endpoint } from '../openapi/endpoint.ts';
import { jsonResponse } from '../openapi/formats.ts';
import { timelineSchema, viewOfTimeline } from '../timeline/timeline-view.ts';
import { findErrors, findNamedJobBrief, namedJob } from './find-named-job.ts';

/** GET /v1/jobs/:id/timeline: the transitions of a job and of its executions, oldest first. */
export function readJobTimeline({ db }: { db: Database }): Endpoint {
  return {
    operation: {
      operationId: 'readJobTimeline',
      tag: 'jobs',
      access: 'user',
      summary: 'Reads the timeline of a job: its transitions and its executions.',
      params: { path: namedJob },
      answers: { 200: jsonResponse('The timeline.', timelineSchema) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const { id } = await findNamedJobBrief(db, req);
      res.json(viewOfTimeline(await findTimeline(db, id), 'owner'));
    },
  };
}
