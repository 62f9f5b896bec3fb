import { listSecretRequests, type SecretRequest } from '@pasteflow/postgres';
import { myRequestPage, myRequestsPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { readEmptyForm } from '../http/body/url-form.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { goTo } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';
import { sendRightAddress } from '../http/pages/right-address.ts';
import { nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { cancelOwn } from './cancel-request.ts';
import { findOwnRequest, idWithKey } from './find-request.ts';
import { depositsOf } from './read-requests.ts';
import { viewOfOwn } from './request-view.ts';

const PAGE_SIZE = 50;

const query = z.strictObject({ cursor: pageFields.cursor });

/** GET /my/requests: the user's requests for secrets, newest first, and the form that makes one. */
export function myRequests({ db, pages, publicUrl }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const { cursor } = readQuery(req, query);
    const wanted = pageRequestOf({ limit: PAGE_SIZE, cursor });
    const found = await listSecretRequests(db, requireUser(req), wanted);
    sendPage(
      res,
      myRequestsPage(pages.site(req), {
        requests: found.rows.map((request) => shown(request, publicUrl())),
        isFirst: cursor === undefined,
        next: nextCursorOf(found),
      }),
    );
  });
}

/** GET /my/requests/:id: one of them, with what was deposited. The key is in the address, behind what is sent here. */
export function myRequest(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user', countsMisses: true }, async (req, res) => {
    const named = { before: 'my/requests/', name: req.params.id, withFragment: idWithKey };
    if (sendRightAddress(api.pages, { req, res }, named)) return;
    const request = await findOwnRequest(api.db, req);
    const { url } = viewOfOwn(request, api.publicUrl());
    sendPage(
      res,
      myRequestPage(api.pages.site(req), {
        request: shown(request, api.publicUrl()),
        url,
        deposits: await depositsOf(api, request.id),
      }),
    );
  });
}

/** POST /my/requests/:id/cancel: closes a request from the form of its page, and goes back to the page. */
export function cancelMyRequest({ db, actor, bodies, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'user', countsMisses: true }, async (req, res) => {
    await readEmptyForm(req, res, bodies);
    const request = await findOwnRequest(db, req);
    try {
      await cancelOwn(db, request, actor);
    } catch (error) {
      // The page shows how it has ended.
      if (!(error instanceof RequestError && error.code === 'request_ended')) throw error;
    }
    goTo(res, `${pages.site(req).base}/my/requests/${request.code}`);
  });
}

function shown(request: SecretRequest, publicUrl: string) {
  return { ...viewOfOwn(request, publicUrl), isExpired: request.isExpired };
}
