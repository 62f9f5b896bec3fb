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
