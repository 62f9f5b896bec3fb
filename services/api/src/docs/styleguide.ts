import { styleguidePage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { sendPage } from '../http/pages/page.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { pageOf } from '../http/pages/page-answers.ts';

/** GET /styleguide: every part of the pages in its states. Only in development. */
export function styleguide({ pages }: ApiContext): Endpoint {
  const show: Handler = (req, res) => sendPage(res, styleguidePage(pages.site(req)));
  return {
    operation: {
      operationId: 'showStyleguide',
      tag: 'pages',
      access: 'anyone',
      summary: 'Shows every part of the pages in its states. Only in development.',
      answers: { 200: pageOf('The page.') },
      errors: [],
    },
    handle: show,
    page: show,
  };
}
