import type { Request } from 'express';
import { PENDING_SECONDS, writePending, type IdentityProvider } from '@pasteflow/http-kit/sign-in';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { contextOf } from '../http/request/request-context.ts';
import { readQuery } from '../http/request/query.ts';
import { throwAsAnswer } from '../http/callers/authorization.ts';
import type { SessionCookie } from '../http/callers/session-cookie.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { ownPath, goTo } from '../http/pages/page-answers.ts';

/** The cookie of a browser whose user is at the identity provider. */
export const PENDING_COOKIE = 'pasteflow-sign-in';

const query = z.strictObject({
  next: z.string().optional(),
});

/** GET /session/oidc: sends a browser to the identity provider. */
export function beginOidcSignIn({ provider, sessions, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    const oidc = requireProvider(provider);
    const { base } = pages.site(req);
    const next = ownPath(readQuery(req, query).next, base);
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
export function requireProvider(provider: IdentityProvider | null): IdentityProvider {
  if (provider !== null) return provider;
  throw new RequestError(
    'route_not_found',
    'This service has no sign-in by an identity provider. GET /session shows how to sign in.',
  );
}

/** The cookie with the sign-ins at the provider. @param value empty: there are none */
export function pendingCookie(sessions: SessionCookie, value: string): string {
  return sessions.cookie(
    PENDING_COOKIE,
    value,
    `SameSite=Lax; Max-Age=${value === '' ? 0 : PENDING_SECONDS}`,
  );
}

/** What goes wrong from here on is shown on the page to sign in. */
export function expectSignIn(req: Request, next: string): void {
  Object.assign(contextOf(req), { mustSignIn: true, afterSignIn: next });
}
