import { ParentNotFoundError } from '@pasteflow/domain';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { ApiContext } from './context.ts';
import { callerOf } from './http/callers/caller-of.ts';
import { readClient, readDocs, readDocsFile, readDocument } from './docs/docs-endpoints.ts';
import { healthz, readyz } from './docs/health.ts';
import { limitKeyOf } from './http/callers/caller.ts';
import { contextOf, pathOf } from './http/request/request-context.ts';
import { wantsPage } from './http/request/accept.ts';
import { RequestError } from './http/answers/request-error.ts';
import { respondWithError } from './http/answers/respond-with-error.ts';
import { answerPreflight, isAnonymousFetch, shareAnswer } from './http/answers/cross-origin.ts';
import { robotsHeader } from './http/answers/response-headers.ts';
import { cancelJob } from './jobs/cancel-job.ts';
import { retryJob } from './jobs/retry-job.ts';
import { createJob } from './jobs/create-job.ts';
import { listAssets } from './jobs/list-assets.ts';
import { listJobs } from './jobs/list-jobs.ts';
import { jobEvents, readJob, readJobTimeline } from './jobs/read-job.ts';
import type { Endpoint, Handler, Method, Routes } from './http/openapi/endpoint.ts';
import { beginOidcSignIn } from './sessions/begin-oidc.ts';
import { chooseLanguage } from './sessions/choose-language.ts';
import { deleteFromForm } from './pastes/delete-form.ts';
import { deleteMyPastes } from './pastes/delete-my-pastes.ts';
import { finishOidcSignIn } from './sessions/finish-oidc.ts';
import { historyAtShortUrl, moveFromForm } from './slugs/history-page.ts';
import { homePage } from './private-bin/home-page.ts';
import { readImage } from './pastes/image.ts';
import { myJob } from './jobs/my-job.ts';
import { myJobs } from './jobs/my-jobs.ts';
import { myPastes } from './pastes/my-pastes.ts';
import { eraseMyAccount, myAccount } from './account/my-account.ts';
import { endMySessions, mySessions } from './sessions/my-sessions.ts';
import { makeMyToken, myTokens, revokeMyToken } from './tokens/my-tokens.ts';
import { cancelMyJob } from './jobs/cancel-my-job.ts';
import { retryMyJob } from './jobs/retry-my-job.ts';
import { startExport } from './jobs/start-export.ts';
import { startImport } from './jobs/start-import.ts';
import { reportFromForm, showReportForm } from './reports/report-form.ts';
import { pasteInBrowser } from './pastes/paste-page.ts';
import { revealInBrowser } from './pastes/reveal-page.ts';
import { problemPageFor } from './http/pages/problem-page.ts';
import { diffInBrowser } from './diffs/diff-page.ts';
import { newFromPaste } from './pastes/new-from-paste.ts';
import { readAsset } from './docs/read-asset.ts';
import { admit } from './sessions/admit.ts';
import { showSignIn, signInForm } from './sessions/sign-in.ts';
import { signOut } from './sessions/sign-out.ts';
import { styleguide } from './docs/styleguide.ts';
import { timelineAtShortUrl } from './pastes/timeline-page.ts';
import { createPaste, createPasteFromShell } from './pastes/create-paste.ts';
import { deletePaste } from './pastes/delete-paste.ts';
import { moveSlug } from './slugs/move-slug.ts';
import { readHistory } from './slugs/read-history.ts';
import { listPastes } from './pastes/list-pastes.ts';
import { readContent } from './pastes/read-content.ts';
import { diffAtShortUrl } from './diffs/read-diff.ts';
import { pasteEvents, readPaste, readTimeline } from './pastes/read-paste.ts';
import { reportPaste } from './reports/report-paste.ts';
import { revealPaste } from './pastes/reveal-paste.ts';
import { createToken, listTokens, revokeToken } from './tokens/own-tokens.ts';
import { pageHeaders } from './http/pages/page.ts';
import { securityTxt } from './docs/security-txt.ts';
import { usage } from './docs/usage.ts';
import { readUsage } from './pastes/read-usage.ts';
import { privateBinProblem } from './private-bin/answers.ts';
import { privateBinPost } from './private-bin/create-or-delete.ts';
import { isPrivateBin } from './private-bin/request.ts';
import { privateBinGet } from './private-bin/read.ts';

/**
 * Every route and its methods; GET includes HEAD. Both the router and /openapi.json are built from this
 * table. `/:short_code` and the paths below it are last because they match every path of one segment or two.
 */
export function routesOf(api: ApiContext): Routes {
  const routes: Routes = {
    '/': {
      GET: { ...usage(api), page: homePage(api), privateBin: privateBinGet(api) },
      POST: { ...createPasteFromShell(api), privateBin: privateBinPost(api) },
    },
    '/healthz': { GET: healthz },
    '/readyz': { GET: readyz(api) },
    '/openapi.json': { GET: readDocument(api, () => routes) },
    '/.well-known/security.txt': { GET: securityTxt(api) },
    '/cli.tgz': { GET: readClient(api) },
    '/docs': { GET: readDocs(api) },
    '/docs/:file': { GET: readDocsFile },
    '/assets/:file': { GET: readAsset },
    '/session': { GET: showSignIn(api), POST: signInForm(api) },
    '/session/oidc': { GET: beginOidcSignIn(api) },
    '/session/oidc/callback': { GET: finishOidcSignIn(api) },
    '/session/end': { POST: signOut(api) },
    '/language': { POST: chooseLanguage(api) },
    '/my/pastes': { GET: myPastes(api) },
    '/my/pastes/delete': { POST: deleteMyPastes(api) },
    '/my/jobs': { GET: myJobs(api) },
    '/my/jobs/import': { POST: startImport(api) },
    '/my/jobs/export': { POST: startExport(api) },
    '/my/jobs/:id': { GET: myJob(api) },
    '/my/jobs/:id/cancel': { POST: cancelMyJob(api) },
    '/my/jobs/:id/retry': { POST: retryMyJob(api) },
    '/my/tokens': { GET: myTokens(api), POST: makeMyToken(api) },
    '/my/tokens/revoke': { POST: revokeMyToken(api) },
    '/my/account': { GET: myAccount(api) },
    '/my/account/erase': { POST: eraseMyAccount(api) },
    '/my/sessions': { GET: mySessions(api) },
    '/my/sessions/end': { POST: endMySessions(api) },
    '/my/slugs/:slug': { POST: moveFromForm(api) },
    ...(api.isDevelopment && { '/styleguide': { GET: styleguide(api) } }),
    '/v1/pastes': { GET: listPastes(api), POST: createPaste(api) },
    '/v1/pastes/:short_code': { GET: readPaste(api), DELETE: deletePaste(api) },
    '/v1/pastes/:short_code/content': { GET: readContent(api, 'readContent') },
    '/v1/pastes/:short_code/reveal': { POST: revealPaste(api, 'revealPaste') },
    '/v1/pastes/:short_code/reports': { POST: reportPaste(api) },
    '/v1/pastes/:short_code/timeline': { GET: readTimeline(api) },
    '/v1/pastes/:short_code/history': { GET: readHistory(api) },
    '/v1/pastes/:short_code/events': { GET: pasteEvents(api) },
    '/v1/slugs/:slug': { PUT: moveSlug(api) },
    '/v1/usage': { GET: readUsage(api) },
    '/v1/jobs': { GET: listJobs(api), POST: createJob(api) },
    '/v1/jobs/:id': { GET: readJob(api) },
    '/v1/jobs/:id/cancel': { POST: cancelJob(api) },
    '/v1/jobs/:id/retry': { POST: retryJob(api) },
    '/v1/jobs/:id/assets': { GET: listAssets(api) },
    '/v1/jobs/:id/timeline': { GET: readJobTimeline(api) },
    '/v1/jobs/:id/events': { GET: jobEvents(api) },
    '/v1/tokens': { GET: listTokens(api), POST: createToken(api) },
    '/v1/tokens/:id': { DELETE: revokeToken(api) },
    '/:short_code/timeline': { GET: timelineAtShortUrl(api) },
    '/:short_code/history': { GET: historyAtShortUrl(api) },
    '/:short_code/diff': { GET: diffAtShortUrl(api, diffInBrowser(api)) },
    '/:short_code/image': { GET: readImage(api) },
    '/:short_code/new': { GET: newFromPaste(api) },
    '/:short_code/report': { GET: showReportForm(api), POST: reportFromForm(api) },
    '/:short_code/delete': { POST: deleteFromForm(api) },
    '/:short_code': {
      GET: { ...readContent(api, 'readContentByShortUrl'), page: pasteInBrowser(api) },
      POST: { ...revealPaste(api, 'revealPasteByShortUrl'), page: revealInBrowser(api) },
    },
  };
  return routes;
}

export function buildApp(api: ApiContext): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('trust proxy', api.trustProxy ?? false);
  app.use((req, res, next) => {
    res.set({ ...api.headers, 'X-Request-Id': contextOf(req).requestId });
    api.requireHost(req);
    next();
  });
  for (const [path, methods] of Object.entries(routesOf(api))) app.all(path, byMethod(path, methods, api));
  app.use(async (req: Request, res: Response) => {
    res.vary(PAGE_VARIES);
    if (wantsPage(req)) contextOf(req).wantsPage = true;
    await admit(api, req, res, { access: 'open', errors: [] });
    throw new RequestError(
      'route_not_found',
      `There is no route ${pathOf(req)}. GET /docs lists all routes.`,
    );
  });
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    respondWithError(req, res, error, api.events, {
      page: contextOf(req).privateBin === true ? privateBinProblem : problemPageFor(api.pages, req),
    }),
  );
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
      throw new RequestError(
        'method_not_allowed',
        `This route has no ${req.method}. Use ${allowed.join(' or ')}.`,
        { headers: { Allow: allowed.join(', ') } },
      );
    }
    if (endpoint.operation.access !== 'open') res.set(robotsHeader);
    const handle = handlerFor(endpoint, req, res);
    const shares = handle === endpoint.handle && isShared(endpoint) && shareAnswer(req, res, api.corsOrigins);
    // A page of another site must not create or delete anything in the name of its visitor.
    const reads = req.method === 'GET' || req.method === 'HEAD';
    if (!reads && !(shares && isAnonymousFetch(req))) api.sessions.refuseForeign(req);
    await admit(api, req, res, endpoint.operation);
    try {
      await handle(req, res);
    } catch (error) {
      if (isMiss(req, error)) await api.limits.countMiss(res, limitKeyOf(callerOf(req)));
      throw error;
    } finally {
      api.bodies.release(req);
    }
  };
}

/** Whether pages of other sites may use the endpoint. */
function isShared(endpoint: Endpoint | undefined): boolean {
  return endpoint?.operation.isShared === true;
}

function endpointFor(endpoint: Endpoint | undefined, req: Request): Endpoint | undefined {
  if (endpoint?.privateBin === undefined || !isPrivateBin(req)) return endpoint;
  contextOf(req).privateBin = true;
  return endpoint.privateBin;
}

/** A page depends on its reader's language and on who is signed in, and other clients get no page. */
const PAGE_VARIES = 'Accept, Accept-Language, Cookie';

/** The page for a browser, where the endpoint has one. A cache must not give the page to other clients. */
function handlerFor({ handle, page }: Endpoint, req: Request, res: Response): Handler {
  if (page === undefined) return handle;
  res.vary(PAGE_VARIES);
  if (!wantsPage(req)) return handle;
  contextOf(req).wantsPage = true;
  res.set(pageHeaders);
  return page;
}

/**
 * Whether a 404 may have been a guess at a short code or a slug. A path such as /favicon.ico is neither and
 * was never looked up. The parent of a new paste was looked up.
 */
function isMiss(req: Request, error: unknown): boolean {
  if (error instanceof ParentNotFoundError) return true;
  const { shortCode, slug } = contextOf(req);
  const lookedUp = shortCode !== undefined || slug !== undefined;
  return lookedUp && error instanceof RequestError && error.code === 'paste_not_found';
}
