import { ParentNotFoundError } from '@pasteflow/domain';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { ApiContext } from './context.ts';
import { callerOf } from './http/callers/caller-of.ts';
import { limitKeyOf } from './http/callers/caller.ts';
import { isArrival } from './http/request/arrival.ts';
import { contextOf, pathOf } from './http/request/request-context.ts';
import { wantsPage } from './http/request/accept.ts';
import { RequestError } from './http/answers/request-error.ts';
import { respondWithError } from './http/answers/respond-with-error.ts';
import {
  addVary,
  robotsHeader,
  answerPreflight,
  isAnonymousFetch,
  shareAnswer,
} from './http/answers/response-headers.ts';
import { type Endpoint, type Handler, type Method, policyOf, type Routes } from './http/openapi/endpoint.ts';
import { problemPageFor } from './http/pages/problem-page.ts';
import { admit } from './sessions/admit.ts';
import { pageHeaders } from './http/pages/page.ts';
import { privateBinProblem } from './private-bin/answers.ts';
import { isPrivateBin } from './private-bin/request.ts';
import { accountRoutes } from './account/account.ts';
import { diffRoutes } from './diffs/diff-page.ts';
import { docsRoutes } from './docs/routes.ts';
import { jobRoutes } from './jobs/routes.ts';
import { pasteRoutes } from './pastes/routes.ts';
import { rootRoutes } from './private-bin/routes.ts';
import { reportRoutes } from './reports/report-paste.ts';
import { secretRequestRoutes } from './secret-requests/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';
import { slugRoutes } from './slugs/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/**
 * Every route and its methods; GET includes HEAD. Both the router and /openapi.json are built from this
 * table. Paths that begin with a name are last because they match every path of one segment or two.
 */
export function routesOf(api: ApiContext): Routes {
  const routes: Routes = {
    ...rootRoutes(api),
    ...docsRoutes(api, () => inOrder),
    ...sessionRoutes(api),
    ...accountRoutes(api),
    ...pasteRoutes(api),
    ...reportRoutes(api),
    ...secretRequestRoutes(api),
    ...slugRoutes(api),
    ...diffRoutes(api),
    ...jobRoutes(api),
    ...tokenRoutes(api),
    ...webhookRoutes(api),
  };
  const inOrder: Routes = Object.fromEntries(
    Object.entries(routes).toSorted(
      ([one], [other]) => Number(one.startsWith('/:')) - Number(other.startsWith('/:')),
    ),
  );
  return inOrder;
}

export function buildApp(api: ApiContext): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('trust proxy', api.trustProxy ?? false);
  const everyHeader = Object.entries(api.headers);
  app.use((req, res, next) => {
    for (const [name, value] of everyHeader) res.setHeader(name, value);
    res.setHeader('X-Request-Id', contextOf(req).requestId);
    api.requireHost(req);
    next();
  });
  for (const [path, methods] of Object.entries(routesOf(api))) app.all(path, byMethod(path, methods, api));
  app.use(async (req: Request, res: Response) => {
    await mayShowPage(api, req, res);
    throw new RequestError(
      'route_not_found',
      `There is no route ${pathOf(req)}. GET /docs lists all routes for programs.`,
    );
  });
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const { privateBin, wantsPage: isPage } = contextOf(req);
    if (isPage !== undefined && !res.headersSent) res.vary(PAGE_VARIES);
    respondWithError(req, res, error, api.events, {
      page: privateBin === true ? privateBinProblem : problemPageFor(api.pages, req),
    });
  });
  return app;
}

function byMethod(path: string, methods: Routes[string], api: ApiContext): Handler {
  const allowed = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return async (req, res) => {
    contextOf(req).route = path;
    const asked = req.method === 'OPTIONS' ? req.get('Access-Control-Request-Method') : undefined;
    if (asked !== undefined && allowed.includes(asked) && isShared(methods[asked as Method]))
      if (shareAnswer(req, res, api.corsOrigins)) return answerPreflight(res, asked);
    const endpoint = endpointFor(methods[req.method === 'HEAD' ? 'GET' : (req.method as Method)], req);
    if (endpoint === undefined) {
      if (Object.values(methods).some(({ page }) => page !== undefined)) await mayShowPage(api, req, res);
      throw new RequestError(
        'method_not_allowed',
        contextOf(req).wantsPage === true && methods.GET === undefined
          ? 'This address takes only what a form sends. Go back to the page of the form.'
          : `This route has no ${req.method}. Use ${allowed.join(' or ')}.`,
        { headers: { Allow: allowed.join(', ') } },
      );
    }
    const policy = policyOf(endpoint);
    if (policy.access !== 'open') res.setHeader(...robotsHeader);
    const handle = handlerFor(endpoint, req, res);
    const isOpenToSites = handle === endpoint.handle && policy.isShared === true;
    const shares = isOpenToSites && shareAnswer(req, res, api.corsOrigins);
    // A page of another site must not create or delete anything in the name of its visitor.
    const reads = req.method === 'GET' || req.method === 'HEAD';
    if (!reads && !(shares && isAnonymousFetch(req))) api.sessions.refuseForeign(req);
    try {
      await admit(api, req, res, policy);
      await handle(req, res);
      api.arrivals.giveBack(req);
    } catch (error) {
      const isGuess = isMiss(req, error);
      const goesOn = (isGuess || asksToSignIn(req, error)) && isArrival(req, api.sessions.isOwn(req));
      if (isGuess) await countMiss(api, req, res, goesOn);
      if (goesOn) contextOf(req).goesOn = true;
      throw error;
    } finally {
      api.bodies.release(req);
    }
  };
}

/** Where there is no endpoint: a browser is shown the problem, in the language and the frame of its user. */
async function mayShowPage(api: ApiContext, req: Request, res: Response): Promise<void> {
  contextOf(req).wantsPage = wantsPage(req);
  await admit(api, req, res, { access: 'open' });
}

/** A miss counts once, also when the browser comes again as who it is. @throws RequestError rate_limited */
async function countMiss(api: ApiContext, req: Request, res: Response, goesOn: boolean): Promise<void> {
  if (!goesOn) api.arrivals.giveBack(req);
  const giveBack = await api.limits.countMiss(res, limitKeyOf(callerOf(req)));
  if (goesOn) api.arrivals.keep(req, giveBack);
}

/** Whether a page is for users, or for the owner of its paste. */
function asksToSignIn(req: Request, error: unknown): boolean {
  const { mustSignIn, afterSignIn } = contextOf(req);
  if (mustSignIn !== true || afterSignIn !== undefined) return false;
  return error instanceof RequestError && error.code === 'unauthorized';
}

/** Whether pages of other sites may use the endpoint. */
function isShared(endpoint: Endpoint | undefined): boolean {
  return endpoint !== undefined && policyOf(endpoint).isShared === true;
}

function endpointFor(endpoint: Endpoint | undefined, req: Request): Endpoint | undefined {
  if (endpoint === undefined || !('privateBin' in endpoint) || !isPrivateBin(req)) return endpoint;
  contextOf(req).privateBin = true;
  return endpoint.privateBin;
}

/** A page depends on its reader's language and on who is signed in, and other clients get no page. */
const PAGE_VARIES = 'Accept, Accept-Language, Cookie';

/** The page for a browser, where the endpoint has one. A cache must not give the page to other clients. */
function handlerFor({ handle, page, showsProblems }: Endpoint, req: Request, res: Response): Handler {
  if (page === undefined) {
    if (showsProblems === true) contextOf(req).wantsPage = wantsPage(req);
    return handle;
  }
  addVary(res, PAGE_VARIES);
  if (!wantsPage(req)) return handle;
  contextOf(req).wantsPage = true;
  res.set(pageHeaders);
  return page;
}

/**
 * Whether a 404 may have been a guess at a short code, a slug or the id of a request for secrets. A path such as /favicon.ico is neither and
 * was never looked up. The parent of a new paste was looked up.
 */
function isMiss(req: Request, error: unknown): boolean {
  if (error instanceof ParentNotFoundError) return true;
  if (!(error instanceof RequestError)) return false;
  const { shortCode, slug, secretRequest } = contextOf(req);
  if (error.code === 'request_not_found') return secretRequest !== undefined;
  return error.code === 'paste_not_found' && (shortCode !== undefined || slug !== undefined);
}
