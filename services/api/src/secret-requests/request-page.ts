import { requestPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import { sendRightAddress } from '../http/pages/right-address.ts';
import { closedFor, findNamedRequest, idWithKey, isOwn } from './find-request.ts';
import { viewOfOpen } from './request-view.ts';

/** GET /requests/:id: the page of those who are asked for a secret. An ended request shows nothing of what was asked. */
export function askedPage(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', countsMisses: true }, async (req, res) => {
    const named = { before: 'requests/', name: req.params.id, withFragment: idWithKey };
    if (sendRightAddress(api.pages, { req, res }, named)) return;
    const request = await findNamedRequest(api.db, req);
    const closed = closedFor(request);
    if (closed !== null) throw closed;
    sendPage(
      res,
      requestPage(api.pages.site(req), viewOfOpen(request, api), { isOwn: isOwn(request, req) }),
      { 'Cache-Control': 'no-store' }, // the next reader must see that the last place is taken
    );
  });
}
