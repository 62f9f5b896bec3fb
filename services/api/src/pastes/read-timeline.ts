import { readTimeline as findTimeline } from '@pasteflow/postgres';
import type { Endpoint } from '../openapi/endpoint.ts';
import { jsonResponse } from '../openapi/formats.ts';
import { timelineSchema, viewOfTimeline } from '../timeline/timeline-view.ts';
import {
  assertTimelineShown,
  findErrors,
  findNamedPaste,
  type FindDependencies,
  namedPaste,
  readerOf,
} from './find-named-paste.ts';

/**
 * GET /v1/pastes/:short_code/timeline: the transitions of a paste and of its upload's executions, oldest
 * first.
 */
export function readTimeline({ db }: FindDependencies): Endpoint {
  return {
    operation: {
      operationId: 'readTimeline',
      tag: 'pastes',
      access: 'anyone',
      summary: 'Reads the timeline of a paste: its transitions and the executions of its upload.',
      params: { path: namedPaste },
      answers: { 200: jsonResponse('The timeline.', timelineSchema) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await findNamedPaste({ db }, req);
      assertTimelineShown(paste);
      res.json(viewOfTimeline(await findTimeline(db, paste.id), readerOf(paste, req)));
    },
  };
}
