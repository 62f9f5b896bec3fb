import { type ContentEncoding, contentEncodings } from '@pasteflow/domain';
import type { IncomingMessage } from 'node:http';

/**
 * Whether a request comes from a browser's address bar, link or form: its Accept names `text/html`, and
 * doesn't prefer `text/plain`. A wildcard is no wish for a page: curl, wget and fetch send it, and get the
 * bytes. So does Java's HttpURLConnection, which names `text/html` beside pictures; browsers with pictures
 * name XHTML, too.
 */
export function wantsPage(req: IncomingMessage): boolean {
  const qualities = qualitiesOf(req.headers.accept);
  const page = qualities.get('text/html') ?? 0;
  const isJava = qualities.has('image/gif') && !qualities.has('application/xhtml+xml');
  return page > 0 && page >= (qualities.get('text/plain') ?? 0) && !isJava;
}

/**
 * The encoding that a client names in its Accept-Encoding, and doesn't like less than `identity`. A wildcard
 * names none: what a script sends without a thought must not make it store compressed bytes. Who refuses
 * everything gets the content as it is.
 */
export function acceptedEncoding(req: IncomingMessage): ContentEncoding | null {
  const qualities = qualitiesOf(req.headers['accept-encoding']);
  const identity = qualities.get('identity') ?? 0;
  return (
    contentEncodings.find((each) => {
      const quality = qualities.get(each) ?? 0;
      return quality > 0 && quality >= identity;
    }) ?? null
  );
}

/** Chromium's Accept has 135 characters. */
const MAX_LENGTH = 1000;

/**
 * The values of a header such as Accept or Accept-Encoding, in lower case, with their qualities (RFC 9110,
 * 12.4.2). A malformed quality counts as 0, and a very long header as empty.
 */
function qualitiesOf(header: string | undefined): ReadonlyMap<string, number> {
  if (header === undefined || header.length > MAX_LENGTH) return new Map();
  return new Map(header.split(',').map(readValue));
}

function readValue(text: string): readonly [value: string, quality: number] {
  const [value = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  if (quality === undefined) return [value, 1];
  return [
    value,
    /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality.slice(2)) ? Number(quality.slice(2)) : 0,
  ];
}
