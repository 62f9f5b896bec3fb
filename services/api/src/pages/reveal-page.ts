import { pendingPastePage, revealedPage } from '@pasteflow/web';
import type { Handler } from '../openapi/endpoint.ts';
import { extensionOf, findNamedPaste } from '../pastes/find-named-paste.ts';
import {
  assertBurns,
  assertPlainRequest,
  sendOnce,
  type RevealDependencies,
} from '../pastes/reveal-paste.ts';
import { sendPage } from '../site/send-page.ts';
import { assertShown, markupOf, shownPaste, type PastePageDependencies } from './paste-page.ts';

/** POST /:short_code in a browser: the text of a paste that is deleted when it is read, on the one page that shows it. */
export function revealInBrowser(deps: RevealDependencies & PastePageDependencies): Handler {
  return async (req, res) => {
    assertPlainRequest(deps, req);
    const paste = await findNamedPaste(deps, req);
    assertShown(paste);
    assertBurns(paste);
    const site = deps.pages.site(req);
    const shown = shownPaste(paste, req, { publicUrl: deps.publicUrl(), extension: extensionOf(req) });
    if (paste.status === 'IN_PROGRESS') {
      sendPage(res, pendingPastePage(site, shown));
      return;
    }
    await sendOnce(deps, paste, {
      req,
      res,
      head: () => res.type('html'),
      render: (bytes) => markupOf(revealedPage, site, shown, bytes),
    });
  };
}
