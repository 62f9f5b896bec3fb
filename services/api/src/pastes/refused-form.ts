import type { Request } from 'express';
import { newPastePage, slugMessage } from '@pasteflow/web';
import type { Form } from '../http/body/multipart.ts';
import { contextOf } from '../http/request/request-context.ts';
import type { Pages } from '../http/pages/page.ts';

/** A page with a longer text would take too much memory. The browser has the text, too. */
const MAX_SHOWN_BYTES = 256 * 1024;

/**
 * Keeps the form of a page for a slug or a parent that is refused, for a text with a file, and for a user who
 * has changed. Without JavaScript, the refusal would otherwise cost everything that was entered.
 * @param form null: a script has sent the paste, and keeps what was entered
 */
export function keepForm(
  { pages, maxPasteBytes }: { readonly pages: Pages; readonly maxPasteBytes: number },
  req: Request,
  form: Form | null,
): void {
  const { content, text, fields } = form ?? { content: null, text: null, fields: new Map<string, string>() };
  if (text !== null && text.length > MAX_SHOWN_BYTES) return;
  const isTextWithFile = Boolean(text?.length && content?.length);
  contextOf(req).refusedForm = ({ code, errors = [] }) => {
    const site = pages.site(req);
    const hasOtherUser = code === 'user_changed';
    if (form === null && !hasOtherUser) return null;
    // Only those who are signed in have the field of the slug.
    const slugError = site.viewer === null ? undefined : errors.find(({ path }) => path === 'slug')?.message;
    const isParentMissing = code === 'parent_not_found';
    const hasBoth = isTextWithFile && errors.some(({ path }) => path === 'content');
    if (slugError === undefined && !isParentMissing && !hasBoth && !hasOtherUser) return null;
    const entered = text?.toString().replaceAll('\r\n', '\n') ?? '';
    const refused = {
      text: entered,
      fields,
      slugError: slugError === undefined ? null : slugMessage(site.words, code, slugError),
      isParentMissing,
      hasBoth,
      hasOtherUser,
    };
    return newPastePage(site, { maxPasteBytes, refused });
  };
}
