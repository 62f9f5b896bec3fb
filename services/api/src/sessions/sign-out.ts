import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { readQuery } from '../http/request/query.ts';
import { endSession } from './browser-sessions.ts';
import type { Endpoint, Handler } from '../http/openapi/endpoint.ts';
import { ownPath } from '../http/pages/own-path.ts';
import { forgetting, forgetUser, goTo, redirectOf } from '../http/pages/page-answers.ts';

const query = z.strictObject({
  next: z
    .string()
    .optional()
    .meta({ description: 'The path of the page to show afterwards.', param: { example: '/' } }),
});

/**
 * POST /session/end: signs a browser out, and ends its session. The token with which it signed in stays good,
 * because programs may use it.
 */
export function signOut({ db, sessions, pages }: ApiContext): Endpoint {
  const end: Handler = async (req, res) => {
    sessions.requireOwn(req);
    const { next } = readQuery(req, query);
    const { base } = pages.site(req);
    // Before the statement: the browser forgets the session even when Postgres does not answer.
    forgetUser(res, sessions, base);
    await endSession(db, sessions.heldBy(req));
    goTo(res, ownPath(next ?? `${base}/`, base));
  };
  return {
    operation: {
      operationId: 'signOut',
      tag: 'pages',
      access: 'anyone',
      ignoresSession: true, // also with one that has ended
      setsCookies: true,
      summary: 'Signs a browser out, from the form of a page.',
      params: { query },
      answers: { 303: redirectOf('The browser is signed out.', forgetting) },
      errors: ['validation_failed', 'cross_site_request'],
    },
    handle: end,
    page: end,
  };
}
