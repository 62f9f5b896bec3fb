import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { eraseMyAccount, myAccount } from './my-account.ts';
import { readUsage } from './read-usage.ts';

export const accountRoutes = (api: ApiContext): Routes => ({
  '/v1/usage': { GET: readUsage(api) },
  '/my/account': { GET: myAccount(api) },
  '/my/account/erase': { POST: eraseMyAccount(api) },
});
