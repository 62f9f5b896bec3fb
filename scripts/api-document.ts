import { DEFAULT_MAX_PASTE_BYTES, defaultHouse } from '../packages/domain/src/index.ts';
import { jobTypes } from '../packages/jobs/src/index.ts';
import { routesOf } from '../services/api/src/app.ts';
import type { ApiContext } from '../services/api/src/context.ts';
import { jobTypesOf } from '../services/api/src/job-types.ts';
import { openApiDocument, type OpenApiDocument } from '../services/api/src/http/openapi/document.ts';

/** What an api with default settings serves at /openapi.json. No server runs: it is made of the routes alone. */
export function apiDocument(): OpenApiDocument {
  // Routes only keep what they are given: no handler is called.
  const routes = routesOf({
    maxPasteBytes: DEFAULT_MAX_PASTE_BYTES,
    publicUrl: () => '',
    jobTypes: jobTypesOf(jobTypes),
  } as unknown as ApiContext);
  return openApiDocument(routes, 'https://paste.example.org', defaultHouse);
}
