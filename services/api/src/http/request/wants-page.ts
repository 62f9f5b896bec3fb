import type { IncomingMessage } from 'node:http';

/** Chromium's has 135 characters. */
const MAX_ACCEPT_LENGTH = 1000;

/**
 * Whether a request comes from a browser's address bar, link or form: its Accept names `text/html`, and
 * doesn't prefer `text/plain`. A wildcard is no wish for a page: curl, wget and fetch send it, and get the
 * bytes.
 */
export function wantsPage(req: IncomingMessage): boolean {
  const { accept = '' } = req.headers;
  if (accept.length > MAX_ACCEPT_LENGTH) return false;
  const qualities = new Map(accept.split(',').map(readRange));
  const page = qualities.get('text/html') ?? 0;
  return page > 0 && page >= (qualities.get('text/plain') ?? 0);
}

/** A media range with its quality (RFC 9110, 12.5.1); a malformed quality counts as 0. */
function readRange(text: string): readonly [type: string, quality: number] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  if (quality === undefined) return [type, 1];
  return [type, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality.slice(2)) ? Number(quality.slice(2)) : 0];
}
