import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { readClient, readDocs, readDocsFile, readDocument } from './docs-endpoints.ts';
import { healthz, readyz } from './health.ts';
import { readInstance } from './instance.ts';
import { readAsset, readLogo, securityTxt, styleguide } from './site.ts';

/** @param all the routes of every subject, for the OpenAPI document */
export const docsRoutes = (api: ApiContext, all: () => Routes): Routes => ({
  '/healthz': { GET: healthz },
  '/readyz': { GET: readyz(api) },
  '/v1/instance': { GET: readInstance(api) },
  '/openapi.json': { GET: readDocument(api, all) },
  '/.well-known/security.txt': { GET: securityTxt(api) },
  '/cli.tgz': { GET: readClient(api) },
  '/docs': { GET: readDocs(api) },
  '/docs/:file': { GET: readDocsFile },
  '/assets/:file': { GET: readAsset(api) },
  '/logo': { GET: readLogo(api) },
  ...(api.isDevelopment && { '/styleguide': { GET: styleguide(api) } }),
});
