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
import { setCookie } from '../http/openapi/answer-headers.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { ownPath } from '../http/pages/own-path.ts';
import { sendPage } from '../http/pages/page.ts';
import { formErrors, goTo, pageOf, redirectOf } from '../http/pages/page-answers.ts';

/** The token of the document's examples. The tests make it and sign in with it. */
export const exampleToken = 'pf_0000000000000000000000000000000000000000000';

const query = z.strictObject({
  next: z
    .string()
    .optional()
    .meta({
      description: 'The path of the page to show afterwards.',
      param: { example: '/my/pastes' },
    }),
});

/** GET /session: the page on which one signs in. */
export function showSignIn({ pages }: ApiContext): Endpoint {
  const show: Handler = (req, res) => {
    const site = pages.site(req);
    const next = ownPath(readQuery(req, query).next, site.base);
    sendPage(res, signInPage(site, { problem: null, next }));
  };
  return {
    operation: {
      operationId: 'showSignIn',
      tag: 'pages',
      access: 'anyone',
      summary: 'Shows the page on which one signs in.',
      params: { query },
      answers: { 200: pageOf('The page.') },
      errors: ['validation_failed'],
    },
    handle: show,
    page: show,
  };
}

const form = z.strictObject({
  token: z.string().meta({ description: 'A token, as in the Authorization header.' }),
  next: z.string().optional().meta({ description: 'The path of the page to show afterwards.' }),
});

/** POST /session: signs a browser in with a token, and ends its earlier session. No JavaScript. */
export function signInForm(api: ApiContext): Endpoint {
  const signIn: Handler = async (req, res) => {
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
  };
  return {
    operation: {
      operationId: 'signIn',
      tag: 'pages',
      access: 'anyone',
      ignoresSession: true,
      summary: 'Signs a browser in with a token, from the form of the page.',
      description:
        'Accepted only when the headers Sec-Fetch-Site and Origin of the browser name a page of the service.',
      body: {
        required: true,
        content: {
          'application/x-www-form-urlencoded': {
            schema: form,
            example: { token: exampleToken, next: '/my/pastes' },
          },
        },
      },
      answers: { 303: redirectOf('The browser is signed in.', { 'Set-Cookie': setCookie }) },
      errors: [...formErrors, 'unauthorized', 'cross_site_request'],
    },
    handle: signIn,
    page: signIn,
  };
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
