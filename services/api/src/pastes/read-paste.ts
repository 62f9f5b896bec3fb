import { isTerminal, pasteUpload } from '@pasteflow/domain';
import { readTimeline as findTimeline } from '@pasteflow/postgres';
import { timelinePage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import {
  lastEventId,
  preferenceApplied,
  preferWait,
  streamAnswers,
  streamDescription,
} from '../live/live-documents.ts';
import { readWaiting } from '../live/read-waiting.ts';
import type { ApiEndpoint, Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import {
  assertNotGone,
  assertTimelineShown,
  findErrors,
  findNamedPaste,
  namedPaste,
  readerOf,
} from './find-named-paste.ts';
import { newestVersionOf } from './paste-versions.ts';
import { pasteSchema, viewOf } from './paste-view.ts';
import { timelineSchema, viewOfTimeline } from '../live/timeline-view.ts';
import { openStream } from '../live/event-stream.ts';
import { sendPage } from '../http/pages/page.ts';
import { shownPaste } from './paste-page.ts';

/**
 * GET /v1/pastes/:short_code: the metadata of a paste in any upload state. With `Prefer: wait`, the answer
 * waits until the upload has settled.
 */
export function readPaste(api: ApiContext): Endpoint {
  const { live, publicUrl } = api;
  return {
    operation: {
      operationId: 'readPaste',
      isShared: true,
      tag: 'pastes',
      access: 'anyone',
      summary: 'Reads the metadata of a paste, in any upload state.',
      params: { path: namedPaste, header: preferWait },
      answers: {
        200: jsonResponse('The paste.', pasteSchema, { 'Preference-Applied': preferenceApplied }),
      },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await readWaiting(live, req, res, {
        kind: 'upload',
        find: async () => {
          const found = await findNamedPaste(api, req);
          assertNotGone(found);
          return found;
        },
        isSettled: ({ status }) => isTerminal(pasteUpload, status),
      });
      if (paste === null) return;
      const newest = await newestVersionOf(api.db, req, paste);
      res.json(viewOf(paste, publicUrl(), readerOf(paste, req), newest));
    },
  };
}

/**
 * GET /v1/pastes/:short_code/timeline: the transitions of a paste and of its upload's executions, oldest
 * first.
 */
export function readTimeline(api: ApiContext): ApiEndpoint {
  return {
    operation: {
      operationId: 'readTimeline',
      isShared: true,
      tag: 'pastes',
      access: 'anyone',
      summary: 'Reads the timeline of a paste: its transitions and the executions of its upload.',
      params: { path: namedPaste },
      answers: { 200: jsonResponse('The timeline.', timelineSchema) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      const paste = await findNamedPaste(api, req);
      assertTimelineShown(paste);
      res.json(viewOfTimeline(await findTimeline(api.db, paste.id), readerOf(paste, req)));
    },
  };
}

/** GET /v1/pastes/:short_code/events: the events of a paste until its upload has settled, as they happen. */
export function pasteEvents(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'streamPasteEvents',
      isShared: true,
      tag: 'pastes',
      access: 'anyone',
      summary: 'Streams the events of a paste until its upload has settled.',
      description: streamDescription,
      params: { path: namedPaste, header: lastEventId },
      answers: streamAnswers,
      errors: [...findErrors, 'stream_unavailable'],
    },
    handle: (req, res) =>
      openStream(api.live, req, res, async () => {
        const paste = await findNamedPaste(api, req);
        assertNotGone(paste);
        const settled = isTerminal(pasteUpload, paste.status);
        return { kind: 'upload', id: paste.id, settled, audience: readerOf(paste, req) };
      }),
  };
}

/**
 * GET /:short_code/timeline: the timeline at the short URL. A browser gets a drawing with tables; any other
 * client gets the JSON of /v1/pastes/:short_code/timeline.
 */
export function timelineAtShortUrl(api: ApiContext): Endpoint {
  const { operation, handle } = readTimeline(api);
  return {
    operation: {
      ...operation,
      operationId: 'readTimelineByShortUrl',
      summary: 'Reads the timeline of a paste; in a browser, as a page.',
    },
    handle,
    page: async (req, res) => {
      const paste = await findNamedPaste(api, req);
      assertTimelineShown(paste);
      const timeline = viewOfTimeline(await findTimeline(api.db, paste.id), readerOf(paste, req));
      sendPage(
        res,
        timelinePage(
          api.pages.site(req),
          shownPaste(paste, req, { publicUrl: api.publicUrl(), extension: null }),
          timeline,
          new Date(),
        ),
      );
    },
  };
}
