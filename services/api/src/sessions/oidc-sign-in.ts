import type { Request, Response } from 'express';
import { shownNameFrom } from '@pasteflow/domain';
import { endBrowserSession, ensureUser, keepShownName } from '@pasteflow/postgres';
import {
  readPending,
  SignInRefused,
  type IdentityProvider,
  type PendingSignIn,
  type SignedIn,
  withoutPending,
  PENDING_SECONDS,
  writePending,
} from '@pasteflow/http-kit/sign-in';
import { signedInPage } from '@pasteflow/web';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { readQuery } from '../http/request/query.ts';
import { contextOf, idsOf } from '../http/request/request-context.ts';
import { throwAsAnswer } from '../http/callers/authorization.ts';
import { beginSession } from './browser-sessions.ts';
import { nameOfSubject } from './oidc-users.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { ownPath, goTo } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';
import type { SessionCookie } from '../http/callers/session-cookie.ts';

const NOT_BEGUN_HERE = 'This browser did not begin this sign-in, or began it more than 10 minutes ago.';

/**
 * Providers add parameters of their own, for instance session_state. The library checks those that it knows.
 */
const query = z.object({
  state: z.string(),
  code: z.string().optional(),
  error: z.string().optional(),
});

/**
 * GET /session/oidc/callback: where the identity provider sends a browser back. The answer is a page that
 * goes on by itself, and no redirect: a browser that came from another site sends no SameSite=Strict cookie
 * along the rest of a chain of redirects.
 */
export function finishOidcSignIn(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    const provider = requireProvider(api.provider);
    const site = api.pages.site(req);
    const kept = api.sessions.valueOf(req, PENDING_COOKIE);
    const asked = new URL(req.url, 'http://own.invalid').searchParams.get('state');
    const pending = readPending(kept, asked);
    expectSignIn(req, ownPath(pending?.next, site.base));
    readQuery(req, query);
    if (pending === null) throwAsAnswer(new SignInRefused(NOT_BEGUN_HERE));
    res.append('Set-Cookie', pendingCookie(api.sessions, withoutPending(kept, pending.state)));
    const { subject, name } = await finishCounted(api, provider, req, res, pending);
    const userId = await ensureUser(api.db, nameOfSubject(provider.issuer, subject));
    if (Error.isError(name))
      api.logger.warn('name of a user not read', { ...idsOf(contextOf(req)), error: name });
    else await keepShownName(api.db, userId, shownNameFrom(name));
    if (pending.replacedSession !== null) await endBrowserSession(api.db, pending.replacedSession);
    const secret = await beginSession(api.db, { userId, tokenId: null });
    res.append('Set-Cookie', api.sessions.begin(secret));
    const page = signedInPage(site, { next: ownPath(pending.next, site.base) });
    sendPage(res, page, { 'Referrer-Policy': 'no-referrer' }); // its URL has the code and the state
  });
}

/** A wrong code counts as a guess, because each costs a request to the provider. */
async function finishCounted(
  { guesses, logger }: ApiContext,
  provider: IdentityProvider,
  req: Request,
  res: Response,
  pending: PendingSignIn,
): Promise<SignedIn> {
  const search = new URL(req.url, 'http://own.invalid').search;
  guesses.refuseGuesser(req, res);
  try {
    return await guesses.counted(req, res, `Sign-in ${pending.state}`, () =>
      provider.finish(search, pending).catch(throwAsAnswer),
    );
  } catch (error) {
    if (error instanceof RequestError)
      logger.info('sign-in by the identity provider refused', { ...idsOf(contextOf(req)), error });
    throw error;
  }
}

/** The cookie of a browser whose user is at the identity provider. */
const PENDING_COOKIE = 'pasteflow-sign-in';

const beginQuery = z.strictObject({
  next: z.string().optional(),
});

/** GET /session/oidc: sends a browser to the identity provider. */
export function beginOidcSignIn({ provider, sessions, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    const oidc = requireProvider(provider);
    const { base } = pages.site(req);
    const next = ownPath(readQuery(req, beginQuery).next, base);
    expectSignIn(req, next);
    // A link of another site leads to the page with the link of our own: nobody is signed in without wanting
    // it.
    if (!sessions.isOwn(req)) {
      goTo(res, `${base}/session?next=${encodeURIComponent(next)}`);
      return;
    }
    const { url, pending } = await oidc.begin(next).catch(throwAsAnswer);
    // Lax: the provider's redirect back to the callback comes from another site, and a Strict cookie would
    // not be sent with it.
    res.set(
      'Set-Cookie',
      pendingCookie(
        sessions,
        writePending(pending, sessions.heldBy(req), sessions.valueOf(req, PENDING_COOKIE)),
      ),
    );
    goTo(res, url);
  });
}

/** @throws RequestError route_not_found */
function requireProvider(provider: IdentityProvider | null): IdentityProvider {
  if (provider !== null) return provider;
  throw new RequestError(
    'route_not_found',
    'This service has no sign-in by an identity provider. GET /session shows how to sign in.',
  );
}

/** The cookie with the sign-ins at the provider. @param value empty: there are none */
function pendingCookie(sessions: SessionCookie, value: string): string {
  return sessions.cookie(
    PENDING_COOKIE,
    value,
    `SameSite=Lax; Max-Age=${value === '' ? 0 : PENDING_SECONDS}`,
  );
}

/** What goes wrong from here on is shown on the page to sign in. */
function expectSignIn(req: Request, next: string): void {
  Object.assign(contextOf(req), { mustSignIn: true, afterSignIn: next });
}
