import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Readiness } from '@pasteflow/runtime';
import { healthz, readyz } from './http/health.ts';
import { contextOf, pathOf } from './http/request-context.ts';
import { RequestError } from './http/request-error.ts';
import type { RequestEvents } from './http/request-events.ts';
import { respondWithError } from './http/respond-with-error.ts';
import { defaultHeaders } from './http/response-headers.ts';
import type { Handler, Method, Routes } from './openapi/endpoint.ts';
import { readDocument } from './openapi/read-document.ts';
import { createPaste, createPasteFromShell, type CreatePasteDependencies } from './pastes/create-paste.ts';
import { deletePaste } from './pastes/delete-paste.ts';
import { readContent, type ReadContentDependencies } from './pastes/read-content.ts';
import { readPaste } from './pastes/read-paste.ts';
import { readTimeline } from './pastes/read-timeline.ts';
import { usage } from './usage.ts';

export interface AppDependencies extends CreatePasteDependencies, ReadContentDependencies {
  readonly readiness: Readiness;
  readonly events: RequestEvents;
}

/**
 * Every route and its methods; HEAD goes with GET. What is served and /openapi.json are both made of it.
 * `/:short_code` is last, since it matches whatever has one segment.
 */
export function routesOf(deps: AppDependencies): Routes {
  const routes: Routes = {
    '/': { GET: usage(deps), POST: createPasteFromShell(deps) },
    '/healthz': { GET: healthz },
    '/readyz': { GET: readyz(deps) },
    '/openapi.json': { GET: readDocument(deps, () => routes) },
    '/v1/pastes': { POST: createPaste(deps) },
    '/v1/pastes/:short_code': { GET: readPaste(deps), DELETE: deletePaste(deps) },
    '/v1/pastes/:short_code/content': { GET: readContent(deps, 'readContent') },
    '/v1/pastes/:short_code/timeline': { GET: readTimeline(deps) },
    '/:short_code': { GET: readContent(deps, 'readContentByShortUrl') },
  };
  return routes;
}

export function buildApp(deps: AppDependencies): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.use((req, res, next) => {
    res.set({ ...defaultHeaders, 'X-Request-Id': contextOf(req).requestId });
    next();
  });
  app.use(requireHost);
  for (const [path, methods] of Object.entries(routesOf(deps))) app.all(path, byMethod(path, methods));
  app.use((req: Request) => {
    throw new RequestError(
      'route_not_found',
      `There is nothing at ${pathOf(req)}; GET / says what there is.`,
    );
  });
  // Express tells an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    respondWithError(req, res, error, deps.events),
  );
  return app;
}

function byMethod(path: string, methods: Routes[string]): Handler {
  const allowed = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return (req, res) => {
    contextOf(req).route = path;
    const endpoint = methods[req.method === 'HEAD' ? 'GET' : (req.method as Method)];
    if (endpoint !== undefined) return endpoint.handle(req, res);
    throw new RequestError('method_not_allowed', `Use ${allowed.join(' or ')} here.`, {
      headers: { Allow: allowed.join(', ') },
    });
  };
}

/** RFC 9112, 3.2. Node would answer this one itself, without problem details. */
function requireHost(req: Request, _res: Response, next: NextFunction): void {
  if (req.httpVersion === '1.1' && req.headers.host === undefined) {
    throw new RequestError('malformed_request', 'Send a Host header.');
  }
  next();
}
