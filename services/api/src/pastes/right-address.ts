import { rightAddressPage } from '@pasteflow/web';
import type { Request, Response } from 'express';
import { type Pages, sendPage } from '../http/pages/page.ts';

/** A short code or a slug, an extension, `#`, and a key or lines. */
const WITH_FRAGMENT = /^((?:[0-9A-Za-z]{10}|~[a-z0-9-]+)(?:\.[\w+-]{1,20})?)#([\w&=+.-]{1,200})$/;

/**
 * Answers `/CODE%23KEY` with a page whose script goes to `/CODE#KEY`. Mail programs write `#` so. A redirect
 * would have the key in its Location, and the requests of the page would have it in their Referer, which
 * proxies write to their logs.
 * @returns whether it has
 */
export function sendRightAddress(pages: Pages, req: Request, res: Response): boolean {
  const [, name, fragment] = WITH_FRAGMENT.exec(String(req.params.short_code)) ?? [];
  if (name === undefined || fragment === undefined) return false;
  const headers = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
  sendPage(res, rightAddressPage({ ...pages.site(req), again: null }, `${name}#${fragment}`), headers);
  return true;
}
