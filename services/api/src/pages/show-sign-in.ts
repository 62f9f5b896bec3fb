import { signInPage } from '@pasteflow/web';
import { z } from 'zod';
import { readQuery } from '../http/request/query.ts';
import type { Endpoint, Handler } from '../openapi/endpoint.ts';
import type { Pages } from '../site/compose-site.ts';
import { ownPath } from '../site/own-path.ts';
import { sendPage } from '../site/send-page.ts';
import { pageOf } from './page-answers.ts';

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
export function showSignIn({ pages }: { readonly pages: Pages }): Endpoint {
  const show: Handler = (req, res) => {
    const site = pages.site(req);
    const next = ownPath(readQuery(req, query).next, site.base);
    sendPage(res, signInPage(site, { reason: null, next }));
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
