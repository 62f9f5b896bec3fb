import { newPastePage } from '@pasteflow/web';
import type { Handler } from '../openapi/endpoint.ts';
import type { Pages } from '../site/compose-site.ts';
import { sendPage } from '../site/send-page.ts';

/** GET / in a browser: the form for a new paste. */
export function homePage({
  pages,
  maxPasteBytes,
}: {
  readonly pages: Pages;
  readonly maxPasteBytes: number;
}): Handler {
  return (req, res) => sendPage(res, newPastePage(pages.site(req), { maxPasteBytes }));
}
