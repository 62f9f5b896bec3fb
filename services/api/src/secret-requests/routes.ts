import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { cancelRequest } from './cancel-request.ts';
import { createRequest } from './create-request.ts';
import { depositSecret } from './deposit.ts';
import { cancelMyRequest, myRequest, myRequests } from './my-requests-page.ts';
import { listRequests, readDeposits, readRequest } from './read-requests.ts';
import { askedPage } from './request-page.ts';

export const secretRequestRoutes = (api: ApiContext): Routes => ({
  '/v1/requests': { GET: listRequests(api), POST: createRequest(api) },
  '/v1/requests/:id': { GET: readRequest(api) },
  '/v1/requests/:id/cancel': { POST: cancelRequest(api) },
  '/v1/requests/:id/deposits': { GET: readDeposits(api), POST: depositSecret(api) },
  '/requests/:id': { GET: askedPage(api) },
  '/my/requests': { GET: myRequests(api) },
  '/my/requests/:id': { GET: myRequest(api) },
  '/my/requests/:id/cancel': { POST: cancelMyRequest(api) },
});
