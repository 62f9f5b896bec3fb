import type { IncomingMessage } from 'node:http';

/** Whether an origin, as a browser sends it, is that of the service. */
export type IsOwnOrigin = (origin: string) => boolean;

/**
 * Whether the browser says that another site has sent the request, of which the user may know nothing. Programs and
 * old browsers say nothing.
 */
export function isForeign({ headers }: IncomingMessage, isOwnOrigin: IsOwnOrigin): boolean {
  const { 'sec-fetch-site': site, origin } = headers;
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  return !isOwnSite || (origin !== undefined && !isOwnOrigin(origin));
}

/**
 * Whether the browser says that the service's own pages, or the user's address bar, sent the request. A write names
 * its origin, too.
 */
export function isOwn(req: IncomingMessage, isOwnOrigin: IsOwnOrigin): boolean {
  if (req.headers['sec-fetch-site'] === undefined) return false;
  if (req.method === 'GET' || req.method === 'HEAD') return !isForeign(req, () => true);
  return req.headers.origin !== undefined && !isForeign(req, isOwnOrigin);
}

const MAX_LENGTH = 2000;

/** The host does not matter: it only makes a URL of a path. */
const HOST = 'http://own.invalid';

/**
 * A path of the service to go to after signing in, from any text. A text that leads elsewhere, such as
 * `//evil.example` or `https:evil.example`, becomes the fallback.
 * @param base the path before all paths of the service
 */
export function ownPath(text: string | null | undefined, base: string, fallback: string): string {
  if (text === null || text === undefined || text.length > MAX_LENGTH) return fallback;
  if (!text.startsWith(`${base}/`) || !URL.canParse(text, HOST)) return fallback;
  const { origin, pathname, search } = new URL(text, HOST);
  const path = pathname + search;
  return origin === HOST && path.startsWith(`${base}/`) && !path.startsWith('//') ? path : fallback;
}
