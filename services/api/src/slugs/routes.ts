import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { moveFromForm, moveSlug } from './move-slug.ts';
import { historyAtShortUrl, readHistory } from './read-history.ts';

export const slugRoutes = (api: ApiContext): Routes => ({
  '/v1/slugs/:slug': { PUT: moveSlug(api) },
  '/v1/pastes/:short_code/history': { GET: readHistory(api) },
  '/my/slugs/:slug': { POST: moveFromForm(api) },
  '/:short_code/history': { GET: historyAtShortUrl(api) },
});
