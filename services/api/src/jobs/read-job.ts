import { isTerminal, job } from '@pasteflow/domain';
import { readJobTimeline as findTimeline } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import {
  lastEventId,
  preferenceApplied,
  preferWait,
  streamAnswers,
  streamDescription,
} from '../live/live-documents.ts';
import { readWaiting } from '../live/read-waiting.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { findErrors, findNamedJob, findNamedJobBrief, namedJob } from './find-named-job.ts';
import { jobSchema, viewOf } from './job-view.ts';
import { timelineSchema, viewOfTimeline } from '../live/timeline-view.ts';
import { openStream } from '../live/event-stream.ts';

/**
 * GET /v1/jobs/:id: the progress and the result of a job. With `Prefer: wait`, the answer waits until the job
 * has ended.
 */
export function readJob({ db, live }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readJob',
      tag: 'jobs',
      access: 'user',
      summary: 'Reads a job: its status, its progress and its result.',
      params: { path: namedJob, header: preferWait },
      answers: {
        200: jsonResponse('The job.', jobSchema, { 'Preference-Applied': preferenceApplied }),
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

/** GET /v1/jobs/:id/timeline: the transitions of a job and of its executions, oldest first. */
export function readJobTimeline({ db }: ApiContext): Endpoint {
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

/** GET /v1/jobs/:id/events: the events of a job until its end, as they happen. */
export function jobEvents({ db, live }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'streamJobEvents',
      tag: 'jobs',
      access: 'user',
      summary: 'Streams the events of a job until its end.',
      description: streamDescription,
      params: { path: namedJob, header: lastEventId },
      answers: streamAnswers,
      errors: [...findErrors, 'stream_unavailable'],
    },
    handle: (req, res) =>
      openStream(live, req, res, async () => {
        const { id, status } = await findNamedJobBrief(db, req);
        return { kind: 'job', id, settled: isTerminal(job, status), audience: 'owner' };
      }),
  };
}
