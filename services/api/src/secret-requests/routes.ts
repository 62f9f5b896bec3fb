import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { cancelRequest } from './cancel-request.ts';
import { createRequest } from './create-request.ts';
import { depositSecret } from './deposit.ts';
import { listRequests, readDeposits, readRequest } from './read-requests.ts';

export const secretRequestRoutes = (api: ApiContext): Routes => ({
  '/v1/requests': { GET: listRequests(api), POST: createRequest(api) },
  '/v1/requests/:id': { GET: readRequest(api) },
  '/v1/requests/:id/cancel': { POST: cancelRequest(api) },
  '/v1/requests/:id/deposits': { GET: readDeposits(api), POST: depositSecret(api) },
});
