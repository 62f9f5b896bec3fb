import { pasteOptions } from '@pasteflow/domain';
import { arrivalPage, closedPage, newPastePage, type SharedText } from '@pasteflow/web';
import type { Request } from 'express';
import type { ApiContext } from '../context.ts';
import type { Routes, Handler } from '../http/openapi/endpoint.ts';
import { usage } from '../docs/usage.ts';
import { createPasteFromShell } from '../pastes/create-paste.ts';
import { privateBinPost } from './create-or-delete.ts';
import { privateBinGet } from './read.ts';
import { nextAfter } from '../http/pages/page-answers.ts';
import { sendPage } from '../http/pages/page.ts';
import { goesOnByItself, isArrival } from '../http/request/arrival.ts';
import { privateBinQuery } from './request.ts';

/** The address without a path speaks to shells, to browsers, and to clients of PrivateBin's. */
export const rootRoutes = (api: ApiContext): Routes => ({
  '/': {
    GET: { ...usage(api), page: homePage(api), privateBin: privateBinGet(api) },
    POST: { ...createPasteFromShell(api), privateBin: privateBinPost(api) },
  },
});

/**
 * GET / in a browser: the form for a new paste. A link as PrivateBin's clients print it, `/?CODE#KEY`, leads
 * to the page of the paste: a browser keeps the part after `#`. `/?secret` is the form of a secret: no code that is
 * given out is as short. What another program shares is in the query, and begins the form; nothing else of a query
 * does, so that no link chooses who reads a paste. Where nobody creates pastes without signing in, nobody begins one.
 */
function homePage({ pages, maxPasteBytes, anonymousPastes, sessions }: ApiContext): Handler {
  return (req, res) => {
    const site = pages.site(req);
    const mustSignIn = anonymousPastes === 'deny' && site.viewer === null;
    const isSecret = req.query['secret'] === '';
    const shared = isSecret ? null : sharedText(req);
    const query = privateBinQuery(req);
    if (query.kind === 'paste' && !isSecret)
      res.status(302).location(`${site.base}/${query.shortCode}`).type('html').end();
    else if (mustSignIn && isArrival(req, sessions.isOwn(req)))
      sendPage(res, arrivalPage(site, nextAfter(req, site.base), goesOnByItself(req)));
    else if (mustSignIn) sendPage(res, closedPage(site, nextAfter(req, site.base)));
    else sendPage(res, newPastePage(site, { maxPasteBytes, shared, isSecret }));
  };
}

/** The `share_target` of the app: most programs put a link into the text, and some into `url`. */
function sharedText({ query }: Request): SharedText | null {
  const [title = '', text = '', url = ''] = ['title', 'text', 'url'].map((name) =>
    typeof query[name] === 'string' ? query[name] : '',
  );
  if (text === '' && url === '') return null;
  const parts = text.includes(url) ? [text] : [text, url];
  const { maxCharacters } = pasteOptions.title;
  return { title: title.slice(0, maxCharacters), text: parts.filter(Boolean).join('\n') };
}
