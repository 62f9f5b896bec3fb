import { styleguidePage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { sendPage } from '../http/pages/page.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';

/** GET /styleguide: every part of the pages in its states. Only in development. */
export function styleguide({ pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone' }, (req, res) => sendPage(res, styleguidePage(pages.site(req))));
}
