import { historyPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { assertNotGone, findNamedPaste } from '../pastes/find-named-paste.ts';
import { move, slugMoveSchema } from './move-slug.ts';
import { readHistory } from './read-history.ts';
import { versionsOf } from '../pastes/paste-versions.ts';
import { sendPage } from '../http/pages/page.ts';
import { goTo } from '../http/pages/page-answers.ts';

/** GET /:short_code/history: the versions of a slug; in a browser, as a page. */
export function historyAtShortUrl(api: ApiContext): Endpoint {
  const { operation, handle } = readHistory(api);
  return {
    operation: {
      ...operation,
      operationId: 'readHistoryByShortUrl',
      summary: 'Lists the pastes that a slug has named, newest first; in a browser, as a page.',
    },
    handle,
    page: async (req, res) => {
      const paste = await findNamedPaste(api.db, req);
      assertNotGone(paste);
      const versions = await versionsOf(api.db, req, paste);
      const shown = versions.map(({ namedAt, ...of }) => ({ ...of, named_at: namedAt.toISOString() }));
      sendPage(res, historyPage(api.pages.site(req), paste, shown));
    },
  };
}

/** POST /my/slugs/:slug: moves a slug from the form of a page, and goes to the address with the slug. */
export function moveFromForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user', countsMisses: true }, async (req, res) => {
    const slug = String(req.params.slug);
    await move(api, req, slug, validate(slugMoveSchema, await readUrlForm(req, res, api.bodies)));
    goTo(res, `${api.pages.site(req).base}/~${slug}`);
  });
}
