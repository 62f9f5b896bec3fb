import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { diffInBrowser } from './diff-page.ts';
import { diffAtShortUrl } from './read-diff.ts';

export const diffRoutes = (api: ApiContext): Routes => ({
  '/:short_code/diff': { GET: diffAtShortUrl(api, diffInBrowser(api)) },
});
