import { readTimeline as findTimeline } from '@pasteflow/postgres';
import { timelinePage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { assertTimelineShown, findNamedPaste, readerOf } from './find-named-paste.ts';
import { readTimeline } from './read-paste.ts';
import { viewOfTimeline } from '../live/timeline-view.ts';
import { sendPage } from '../http/pages/page.ts';
import { shownPaste } from './paste-page.ts';

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
      const paste = await findNamedPaste(api.db, req);
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
