import { signInPage } from '@pasteflow/web';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/answers/request-error.ts';
import type { IdentifiedUser } from '../http/callers/caller.ts';
import { readQuery } from '../http/request/query.ts';
import { contextOf } from '../http/request/request-context.ts';
import { refusedAtSignIn } from '../http/callers/authorization.ts';
import { beginSession, endSession } from './browser-sessions.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { ownPath, goTo, forgetUser } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';

const query = z.strictObject({
  next: z.string().optional(),
});

/** GET /session: the page on which one signs in. */
export function showSignIn({ pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone' }, (req, res) => {
    const site = pages.site(req);
    const next = ownPath(readQuery(req, query).next, site.base);
    sendPage(res, signInPage(site, { problem: null, next }));
  });
}

const form = z.strictObject({
  token: z.string(),
  next: z.string().optional(),
});

/** POST /session: signs a browser in with a token, and ends its earlier session. No JavaScript. */
export function signInForm(api: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    api.sessions.requireOwn(req);
    const fields = await readUrlForm(req, res, api.bodies);
    const sent = validate(form, { token: '', ...fields });
    const token = sent.token.trim();
    const next = ownPath(sent.next ?? null, api.pages.site(req).base);
    Object.assign(contextOf(req), { mustSignIn: true, afterSignIn: next });
    const user = await findGoodToken(api, req, res, token);
    await endSession(api.db, api.sessions.heldBy(req));
    res.set('Set-Cookie', api.sessions.begin(await beginSession(api.db, user)));
    goTo(res, next);
  });
}

/** @throws RequestError unauthorized, which counts as a guess */
async function findGoodToken(
  { guesses, findUser }: ApiContext,
  req: Request,
  res: Response,
  token: string,
): Promise<IdentifiedUser> {
  if (!/^[\w.~+/-]+=*$/.test(token)) throw refusedAtSignIn();
  return await guesses.counted(req, res, `Bearer ${token}`, async () => {
    const user = await findUser(token);
    if (user === null) throw refusedAtSignIn();
    return user;
  });
}

/**
 * POST /session/end: signs a browser out, and ends its session. The token with which it signed in stays good,
 * because programs may use it.
 */
export function signOut({ db, sessions, pages }: ApiContext): Endpoint {
  return pageEndpoint({ access: 'anyone', ignoresSession: true }, async (req, res) => {
    sessions.requireOwn(req);
    const { next } = readQuery(req, query);
    const { base } = pages.site(req);
    // Before the statement: the browser forgets the session even when Postgres does not answer.
    forgetUser(res, sessions, base);
    await endSession(db, sessions.heldBy(req));
    goTo(res, ownPath(next ?? `${base}/`, base));
  });
}
