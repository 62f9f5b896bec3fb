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
import { ownPath } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';
import { expectSignIn, PENDING_COOKIE, pendingCookie, requireProvider } from './begin-oidc.ts';

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
