import { ofUser, type AccessCase } from './access-cases.ts';
import { ownForm } from './http.ts';
import { newRequest, someDeposit } from './secret-requests.ts';

const jsonBody = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** What is done with a request for secrets of the owner. */
function ofRequest(
  rest: string,
  statuses: Pick<AccessCase, 'none' | 'other' | 'owner'>,
  init: RequestInit = {},
): AccessCase[] {
  const prepare: AccessCase['prepare'] = async ({ api }, owner) => {
    const { id } = await newRequest(api.url, owner);
    return { path: `/v1/requests/${id}${rest}`, init };
  };
  return [{ prepare, ...statuses }];
}

/** A page of a request for secrets of the owner. */
function pageOfRequest(path: string, statuses: Pick<AccessCase, 'none' | 'other' | 'owner'>): AccessCase[] {
  const prepare: AccessCase['prepare'] = async ({ api }, owner) => {
    const { id } = await newRequest(api.url, owner);
    const init = path.endsWith('/cancel') ? ownForm(api.url, {}) : {};
    return { path: path.replace(':id', id), init };
  };
  return [{ prepare, ...statuses }];
}

/** The endpoints of requests for secrets. */
export const accessToRequests: Readonly<Record<string, readonly AccessCase[]>> = {
  'GET /v1/requests': ofUser('/v1/requests'),
  'POST /v1/requests': [
    {
      prepare: () => Promise.resolve({ path: '/v1/requests', init: jsonBody({}) }),
      none: 401,
      other: 201,
      owner: 201,
    },
  ],
  'GET /v1/requests/:id': ofRequest('', { none: 200, other: 200, owner: 200 }),
  'POST /v1/requests/:id/cancel': ofRequest(
    '/cancel',
    { none: 401, other: 404, owner: 200 },
    { method: 'POST' },
  ),
  'GET /v1/requests/:id/deposits': ofRequest('/deposits', { none: 401, other: 404, owner: 200 }),
  'POST /v1/requests/:id/deposits': ofRequest(
    '/deposits',
    { none: 201, other: 201, owner: 201 },
    jsonBody(someDeposit),
  ),
  'GET /requests/:id': pageOfRequest('/requests/:id', { none: 200, other: 200, owner: 200 }),
  'GET /my/requests': ofUser('/my/requests'),
  'GET /my/requests/:id': pageOfRequest('/my/requests/:id', { none: 401, other: 404, owner: 200 }),
  'POST /my/requests/:id/cancel': pageOfRequest('/my/requests/:id/cancel', {
    none: 401,
    other: 404,
    owner: 303,
  }),
};
