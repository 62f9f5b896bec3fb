import type { IncomingMessage } from 'node:http';
import { contextOf, pathOf } from './request-context.ts';

/**
 * Whether another site has led a browser to a page or a file, for instance by a link in a chat. The browser then sends no
 * cookie with SameSite=Strict, so that nobody knows who it is. Programs name no such mode.
 * @param isOwn whether the browser says that our own page or its user has led there
 */
export function isArrival(req: IncomingMessage, isOwn: boolean): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, authorization } = req.headers;
  if (req.method !== 'GET' || site === undefined || mode !== 'navigate' || isOwn) return false;
  if (authorization !== undefined || contextOf(req).wantsPage !== true) return false;
  return refererOf(req)?.host !== req.headers.host; // a browser that tells a wrong site must not go on for ever
}

/**
 * Whether the browser goes on without being asked. With a query, the other site could choose what a page has beside its
 * secrets, and could lead there as often as it likes: then somebody presses a button each time.
 */
export function goesOnByItself(req: IncomingMessage): boolean {
  return req.url === pathOf(req);
}

/** Whether a browser has gone on to this address from itself, so that another site may have caused the request. */
export function hasGoneOn(req: IncomingMessage): boolean {
  const referer = refererOf(req);
  if (referer === null || referer.host !== req.headers.host) return false;
  return referer.pathname.endsWith(pathOf(req)); // a proxy may have taken a path before it
}

function refererOf({ headers: { referer } }: IncomingMessage): URL | null {
  return referer === undefined ? null : URL.parse(referer);
}
