import { pendingPastePage, revealedPage } from '@pasteflow/web';
import { z } from 'zod';
import type { BodyBudget } from '../budget/body-budget.ts';
import { readUrlForm } from '../http/body/url-form.ts';
import { validate } from '../http/errors/request-error.ts';
import type { Handler } from '../openapi/endpoint.ts';
import { extensionOf, findNamedPaste } from '../pastes/find-named-paste.ts';
import { readerKeyOf } from '../pastes/reveal-paste.ts';
import {
  asReaderFinds,
  assertBurns,
  hasBody,
  sendOnce,
  type RevealDependencies,
} from '../pastes/reveal-paste.ts';
import { sendPage } from '../html/page.ts';
import { assertShown, markupOf, shownPaste, type PastePageDependencies } from './paste-page.ts';

const form = z.strictObject({ key: z.string().optional() });

/**
 * POST /:short_code in a browser: the text of a paste that is deleted when it is read. The form has the key
 * of the reader, so that a reload repeats the reveal.
 */
export function revealInBrowser(
  deps: RevealDependencies & PastePageDependencies & { readonly bodies: BodyBudget },
): Handler {
  return async (req, res) => {
    const sent = hasBody(req) ? validate(form, await readUrlForm(req, res, deps.bodies)) : {};
    const key = readerKeyOf(req, sent.key);
    const paste = asReaderFinds(await findNamedPaste(deps, req), key);
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
      key,
      head: () => res.type('html'),
      render: (bytes) => markupOf(revealedPage, site, shown, bytes),
    });
  };
}
