import type { IncomingMessage } from 'node:http';
import { qualitiesOf } from './qualities.ts';

/**
 * Whether a request comes from a browser's address bar, link or form: its Accept names `text/html`, and
 * doesn't prefer `text/plain`. A wildcard is no wish for a page: curl, wget and fetch send it, and get the
 * bytes. So does Java's HttpURLConnection, which names `text/html` beside pictures; browsers with pictures name XHTML, too.
 */
export function wantsPage(req: IncomingMessage): boolean {
  const qualities = qualitiesOf(req.headers.accept);
  const page = qualities.get('text/html') ?? 0;
  const isJava = qualities.has('image/gif') && !qualities.has('application/xhtml+xml');
  return page > 0 && page >= (qualities.get('text/plain') ?? 0) && !isJava;
}
