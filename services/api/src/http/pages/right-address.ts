import type { Request, Response } from 'express';
import { rightAddressPage } from '@pasteflow/web';
import { sendPage, type Pages } from './page.ts';

/**
 * Answers `/PATH%23KEY` with a page whose script goes to `/PATH#KEY`. Mail programs write `#` so. A redirect
 * would have the key in its Location, and the requests of the page would have it in their Referer, which
 * proxies write to their logs.
 * @returns whether it has, because the name is one of `withFragment`, whose groups are what is before `#` and behind it
 */
export function sendRightAddress(
  pages: Pages,
  { req, res }: { readonly req: Request; readonly res: Response },
  { before = '', name, withFragment }: { before?: string; name: unknown; withFragment: RegExp },
): boolean {
  const [, path, fragment] = withFragment.exec(String(name)) ?? [];
  if (path === undefined || fragment === undefined) return false;
  const headers = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
  const site = { ...pages.site(req), again: null };
  sendPage(res, rightAddressPage(site, `${before}${path}#${fragment}`), headers);
  return true;
}
