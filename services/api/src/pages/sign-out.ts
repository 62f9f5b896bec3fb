import { z } from 'zod';
import { readQuery } from '../http/request/query.ts';
import type { Sessions } from '../identity/sessions.ts';
import { setCookie } from '../openapi/answer-headers.ts';
import type { Endpoint, Handler } from '../openapi/endpoint.ts';
import type { Pages } from '../site/compose-site.ts';
import { ownPath } from '../site/own-path.ts';
import { goTo, redirectOf } from './page-answers.ts';

const query = z.strictObject({
  next: z
    .string()
    .optional()
    .meta({ description: 'The path of the page to show afterwards.', param: { example: '/' } }),
});

/** POST /session/end: signs a browser out. The token itself stays good. */
export function signOut({
  sessions,
  pages,
}: {
  readonly sessions: Sessions;
  readonly pages: Pages;
}): Endpoint {
  const end: Handler = (req, res) => {
    sessions.requireOwn(req);
    const { next } = readQuery(req, query);
    const { base } = pages.site(req);
    res.set('Set-Cookie', sessions.end());
    goTo(res, ownPath(next ?? `${base}/`, base));
  };
  return {
    operation: {
      operationId: 'signOut',
      tag: 'pages',
      access: 'open', // also with a token that has expired
      summary: 'Signs a browser out, from the form of a page.',
      params: { query },
      answers: { 303: redirectOf('The browser is signed out.', { 'Set-Cookie': setCookie }) },
      errors: ['validation_failed', 'cross_site_request'],
    },
    handle: end,
  };
}
