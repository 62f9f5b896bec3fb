import { ParentNotFoundError } from '@pasteflow/domain';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Readiness } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { Admit } from './http/callers/admit.ts';
import { callerOf } from './http/callers/caller-of.ts';
import { readClient, readDocs, readDocsFile, readDocument } from './docs/docs-endpoints.ts';
import { healthz, readyz } from './docs/health.ts';
import { limitKeyOf } from './http/callers/caller.ts';
import type { TrustedProxies } from './http/request/client-address.ts';
import { contextOf, pathOf } from './http/request/request-context.ts';
import { wantsPage } from './http/request/accept.ts';
import { RequestError } from './http/answers/request-error.ts';
import { respondWithError } from './http/answers/respond-with-error.ts';
import {
  answerPreflight,
  type CorsOrigins,
  isAnonymousFetch,
  shareAnswer,
} from './http/answers/cross-origin.ts';
import { robotsHeader } from './http/answers/response-headers.ts';
import { cancelJob, type CancelJobDependencies } from './jobs/cancel-job.ts';
import { retryJob } from './jobs/retry-job.ts';
import { createJob, type CreateJobDependencies } from './jobs/create-job.ts';
import { listAssets, type AssetUrlDependencies } from './jobs/list-assets.ts';
import { listJobs } from './jobs/list-jobs.ts';
import { jobEvents, readJob, readJobTimeline } from './jobs/read-job.ts';
import type { Endpoint, Handler, Method, Routes } from './http/openapi/endpoint.ts';
import { beginOidcSignIn } from './sessions/begin-oidc.ts';
import { chooseLanguage } from './sessions/choose-language.ts';
import { deleteFromForm } from './pastes/delete-form.ts';
import { deleteMyPastes } from './pastes/delete-my-pastes.ts';
import { finishOidcSignIn, type FinishOidcDependencies } from './sessions/finish-oidc.ts';
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
import { showSignIn, type SignInDependencies, signInForm } from './sessions/sign-in.ts';
import { signOut } from './sessions/sign-out.ts';
import { styleguide } from './docs/styleguide.ts';
import { timelineAtShortUrl } from './pastes/timeline-page.ts';
import { createPaste, createPasteFromShell, type CreatePasteDependencies } from './pastes/create-paste.ts';
import { deletePaste } from './pastes/delete-paste.ts';
import { moveSlug, type MoveSlugDependencies } from './slugs/move-slug.ts';
import { readHistory } from './slugs/read-history.ts';
import { listPastes } from './pastes/list-pastes.ts';
import { readContent } from './pastes/read-content.ts';
import { diffAtShortUrl } from './diffs/read-diff.ts';
import { pasteEvents, readPaste, readTimeline } from './pastes/read-paste.ts';
import { reportPaste, type ReportDependencies } from './reports/report-paste.ts';
import { revealPaste, type RevealDependencies } from './pastes/reveal-paste.ts';
import type { OwnTokenDependencies } from './tokens/make-token.ts';
import { createToken, listTokens, revokeToken } from './tokens/own-tokens.ts';
import { pageHeaders } from './http/pages/page.ts';
import { securityTxt } from './docs/security-txt.ts';
import { usage } from './docs/usage.ts';
import { readUsage, type UsageDependencies } from './pastes/read-usage.ts';
import { privateBinProblem } from './private-bin/answers.ts';
import { privateBinPost } from './private-bin/create-or-delete.ts';
import { isPrivateBin } from './private-bin/request.ts';
import { privateBinGet } from './private-bin/read.ts';

export interface AppDependencies
  extends
    CreatePasteDependencies,
    RevealDependencies,
    ReportDependencies,
    MoveSlugDependencies,
    CreateJobDependencies,
    CancelJobDependencies,
    AssetUrlDependencies,
    OwnTokenDependencies,
    SignInDependencies,
    FinishOidcDependencies,
    UsageDependencies {
  readonly store: Pick<ObjectStore, 'get' | 'presign'>;
  readonly readiness: Readiness;
  /** From createRequireHost. */
  readonly requireHost: (req: Request) => void;
  /** From headersOfEveryAnswer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The proxies whose X-Forwarded-For is trusted, in Express's form; undefined: none. */
  readonly trustProxy: TrustedProxies | undefined;
  readonly corsOrigins: CorsOrigins;
  readonly admit: Admit;
  /** There is a style guide. */
  readonly isDevelopment: boolean;
}

/**
 * Every route and its methods; GET includes HEAD. Both the router and /openapi.json are built from this
 * table. `/:short_code` and the paths below it are last because they match every path of one segment or two.
 */
export function routesOf(deps: AppDependencies): Routes {
  const routes: Routes = {
    '/': {
      GET: { ...usage(deps), page: homePage(deps), privateBin: privateBinGet(deps) },
      POST: { ...createPasteFromShell(deps), privateBin: privateBinPost(deps) },
    },
    '/healthz': { GET: healthz },
    '/readyz': { GET: readyz(deps) },
    '/openapi.json': { GET: readDocument(deps, () => routes) },
    '/.well-known/security.txt': { GET: securityTxt(deps) },
    '/cli.tgz': { GET: readClient(deps) },
    '/docs': { GET: readDocs(deps) },
    '/docs/:file': { GET: readDocsFile },
    '/assets/:file': { GET: readAsset },
    '/session': { GET: showSignIn(deps), POST: signInForm(deps) },
    '/session/oidc': { GET: beginOidcSignIn(deps) },
    '/session/oidc/callback': { GET: finishOidcSignIn(deps) },
    '/session/end': { POST: signOut(deps) },
    '/language': { POST: chooseLanguage(deps) },
    '/my/pastes': { GET: myPastes(deps) },
    '/my/pastes/delete': { POST: deleteMyPastes(deps) },
    '/my/jobs': { GET: myJobs(deps) },
    '/my/jobs/import': { POST: startImport(deps) },
    '/my/jobs/export': { POST: startExport(deps) },
    '/my/jobs/:id': { GET: myJob(deps) },
    '/my/jobs/:id/cancel': { POST: cancelMyJob(deps) },
    '/my/jobs/:id/retry': { POST: retryMyJob(deps) },
    '/my/tokens': { GET: myTokens(deps), POST: makeMyToken(deps) },
    '/my/tokens/revoke': { POST: revokeMyToken(deps) },
    '/my/account': { GET: myAccount(deps) },
    '/my/account/erase': { POST: eraseMyAccount(deps) },
    '/my/sessions': { GET: mySessions(deps) },
    '/my/sessions/end': { POST: endMySessions(deps) },
    '/my/slugs/:slug': { POST: moveFromForm(deps) },
    ...(deps.isDevelopment && { '/styleguide': { GET: styleguide(deps) } }),
    '/v1/pastes': { GET: listPastes(deps), POST: createPaste(deps) },
    '/v1/pastes/:short_code': { GET: readPaste(deps), DELETE: deletePaste(deps) },
    '/v1/pastes/:short_code/content': { GET: readContent(deps, 'readContent') },
    '/v1/pastes/:short_code/reveal': { POST: revealPaste(deps, 'revealPaste') },
    '/v1/pastes/:short_code/reports': { POST: reportPaste(deps) },
    '/v1/pastes/:short_code/timeline': { GET: readTimeline(deps) },
    '/v1/pastes/:short_code/history': { GET: readHistory(deps) },
    '/v1/pastes/:short_code/events': { GET: pasteEvents(deps) },
    '/v1/slugs/:slug': { PUT: moveSlug(deps) },
    '/v1/usage': { GET: readUsage(deps) },
    '/v1/jobs': { GET: listJobs(deps), POST: createJob(deps) },
    '/v1/jobs/:id': { GET: readJob(deps) },
    '/v1/jobs/:id/cancel': { POST: cancelJob(deps) },
    '/v1/jobs/:id/retry': { POST: retryJob(deps) },
    '/v1/jobs/:id/assets': { GET: listAssets(deps) },
    '/v1/jobs/:id/timeline': { GET: readJobTimeline(deps) },
    '/v1/jobs/:id/events': { GET: jobEvents(deps) },
    '/v1/tokens': { GET: listTokens(deps), POST: createToken(deps) },
    '/v1/tokens/:id': { DELETE: revokeToken(deps) },
    '/:short_code/timeline': { GET: timelineAtShortUrl(deps) },
    '/:short_code/history': { GET: historyAtShortUrl(deps) },
    '/:short_code/diff': { GET: diffAtShortUrl(deps, diffInBrowser(deps)) },
    '/:short_code/image': { GET: readImage(deps) },
    '/:short_code/new': { GET: newFromPaste(deps) },
    '/:short_code/report': { GET: showReportForm(deps), POST: reportFromForm(deps) },
    '/:short_code/delete': { POST: deleteFromForm(deps) },
    '/:short_code': {
      GET: { ...readContent(deps, 'readContentByShortUrl'), page: pasteInBrowser(deps) },
      POST: { ...revealPaste(deps, 'revealPasteByShortUrl'), page: revealInBrowser(deps) },
    },
  };
  return routes;
}

export function buildApp(deps: AppDependencies): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('trust proxy', deps.trustProxy ?? false);
  app.use((req, res, next) => {
    res.set({ ...deps.headers, 'X-Request-Id': contextOf(req).requestId });
    deps.requireHost(req);
    next();
  });
  for (const [path, methods] of Object.entries(routesOf(deps))) app.all(path, byMethod(path, methods, deps));
  app.use(async (req: Request, res: Response) => {
    res.vary(PAGE_VARIES);
    if (wantsPage(req)) contextOf(req).wantsPage = true;
    await deps.admit(req, res, { access: 'open', errors: [] });
    throw new RequestError(
      'route_not_found',
      `There is no route ${pathOf(req)}. GET /docs lists all routes.`,
    );
  });
  // Express recognises an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) =>
    respondWithError(req, res, error, deps.events, {
      page: contextOf(req).privateBin === true ? privateBinProblem : problemPageFor(deps.pages, req),
    }),
  );
  return app;
}

function byMethod(
  path: string,
  methods: Routes[string],
  {
    admit,
    limits,
    bodies,
    sessions,
    corsOrigins,
  }: Pick<AppDependencies, 'admit' | 'limits' | 'bodies' | 'sessions' | 'corsOrigins'>,
): Handler {
  const allowed = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return async (req, res) => {
    contextOf(req).route = path;
    const asked = req.method === 'OPTIONS' ? req.get('Access-Control-Request-Method') : undefined;
    if (asked !== undefined && allowed.includes(asked) && isShared(methods[asked as Method]))
      if (shareAnswer(req, res, corsOrigins)) return answerPreflight(res, asked);
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
    const shares = handle === endpoint.handle && isShared(endpoint) && shareAnswer(req, res, corsOrigins);
    // A page of another site must not create or delete anything in the name of its visitor.
    const reads = req.method === 'GET' || req.method === 'HEAD';
    if (!reads && !(shares && isAnonymousFetch(req))) sessions.refuseForeign(req);
    await admit(req, res, endpoint.operation);
    try {
      await handle(req, res);
    } catch (error) {
      if (isMiss(req, error)) await limits.countMiss(res, limitKeyOf(callerOf(req)));
      throw error;
    } finally {
      bodies.release(req);
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
