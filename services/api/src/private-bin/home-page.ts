import { newPastePage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import type { Handler } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';
import { privateBinQuery } from './request.ts';

/**
 * GET / in a browser: the form for a new paste. A link as PrivateBin's clients print it, `/?CODE#KEY`, leads
 * to the page of the paste: a browser keeps the part after `#`.
 */
export function homePage({ pages, maxPasteBytes }: ApiContext): Handler {
  return (req, res) => {
    const site = pages.site(req);
    const query = privateBinQuery(req);
    if (query.kind === 'paste')
      res.status(302).location(`${site.base}/${query.shortCode}`).type('html').end();
    else sendPage(res, newPastePage(site, { maxPasteBytes }));
  };
}
