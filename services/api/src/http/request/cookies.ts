import type { IncomingMessage } from 'node:http';

/** The value of a cookie; null: the request has none of this name. The first of several counts. */
export function cookieOf(req: IncomingMessage, name: string): string | null {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return null;
}
