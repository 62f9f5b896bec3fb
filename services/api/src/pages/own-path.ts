import type { IncomingMessage } from 'node:http';

const MAX_LENGTH = 2000;

/** The host does not matter: it only makes a URL of a path. */
const HOST = 'http://own.invalid';

/**
 * A path of this service to go to after signing in, from any text. A text that leads elsewhere, such as
 * `//evil.example` or `https:evil.example`, becomes the path of the user's pastes.
 * @param base the path of PUBLIC_URL
 */
export function ownPath(text: string | null | undefined, base: string): string {
  const fallback = `${base}/my/pastes`;
  if (text === null || text === undefined || text.length > MAX_LENGTH) return fallback;
  if (!text.startsWith(`${base}/`) || !URL.canParse(text, HOST)) return fallback;
  const { origin, pathname, search } = new URL(text, HOST);
  const path = pathname + search;
  return origin === HOST && path.startsWith(`${base}/`) && !path.startsWith('//') ? path : fallback;
}

/** Where to go after signing in at the page of this request. The result of a form can't be shown again. */
export function nextAfter(req: IncomingMessage, base: string): string {
  return ownPath(req.method === 'GET' ? base + (req.url ?? '') : null, base);
}
