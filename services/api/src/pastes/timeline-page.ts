import { readTimeline as findTimeline, type Database } from '@pasteflow/postgres';
import { timelinePage } from '@pasteflow/web';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { assertTimelineShown, findNamedPaste, readerOf, type FindDependencies } from './find-named-paste.ts';
import { readTimeline } from './read-paste.ts';
import { viewOfTimeline } from '../live/timeline-view.ts';
import { type Pages, sendPage } from '../http/pages/page.ts';
import { shownPaste } from './paste-page.ts';

export interface TimelinePageDependencies extends FindDependencies {
  readonly db: Database;
  readonly pages: Pages;
  readonly publicUrl: () => string;
}

/**
 * GET /:short_code/timeline: the timeline at the short URL. A browser gets a drawing with tables; any other
 * client gets the JSON of /v1/pastes/:short_code/timeline.
 */
export function timelineAtShortUrl(deps: TimelinePageDependencies): Endpoint {
  const { operation, handle } = readTimeline(deps);
  return {
    operation: {
      ...operation,
      operationId: 'readTimelineByShortUrl',
      summary: 'Reads the timeline of a paste; in a browser, as a page.',
    },
    handle,
    page: async (req, res) => {
      const paste = await findNamedPaste(deps, req);
      assertTimelineShown(paste);
      const timeline = viewOfTimeline(await findTimeline(deps.db, paste.id), readerOf(paste, req));
      sendPage(
        res,
        timelinePage(
          deps.pages.site(req),
          shownPaste(paste, req, { publicUrl: deps.publicUrl(), extension: null }),
          timeline,
          new Date(),
        ),
      );
    },
  };
}
