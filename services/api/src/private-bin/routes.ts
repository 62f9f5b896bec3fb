import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { usage } from '../docs/usage.ts';
import { createPasteFromShell } from '../pastes/create-paste.ts';
import { homePage } from './home-page.ts';
import { privateBinPost } from './create-or-delete.ts';
import { privateBinGet } from './read.ts';

/** The address without a path speaks to shells, to browsers, and to clients of PrivateBin's. */
export const rootRoutes = (api: ApiContext): Routes => ({
  '/': {
    GET: { ...usage(api), page: homePage(api), privateBin: privateBinGet(api) },
    POST: { ...createPasteFromShell(api), privateBin: privateBinPost(api) },
  },
});
