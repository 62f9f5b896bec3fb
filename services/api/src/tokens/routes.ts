import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { makeMyToken, myTokens, revokeMyToken } from './my-tokens.ts';
import { createToken, listTokens, revokeToken } from './own-tokens.ts';

export const tokenRoutes = (api: ApiContext): Routes => ({
  '/v1/tokens': { GET: listTokens(api), POST: createToken(api) },
  '/v1/tokens/:id': { DELETE: revokeToken(api) },
  '/my/tokens': { GET: myTokens(api), POST: makeMyToken(api) },
  '/my/tokens/revoke': { POST: revokeMyToken(api) },
});
