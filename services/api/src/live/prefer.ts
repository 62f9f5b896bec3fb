import type { IncomingMessage } from 'node:http';

/** Longer waits end with what there is then: proxies on the way give up after a minute or so. */
const MOST_SECONDS = 60;

/** RFC 7240, 2: `respond-async, wait=10; x="y"`. Names and values are tokens, values may be quoted; parameters of a preference are passed over. */
const PREFERENCE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:"([^"]*)"|([\w!#$%&'*+.^`|~-]*)))?\s*(?:;|$)/;

/**
 * How many seconds the client would like to wait, 60 at most; null: it doesn't say. Of several the first counts, and what can't be understood is
 * no preference: RFC 7240 has no error for it.
 */
export function preferredWait({ headers: { prefer } }: IncomingMessage): number | null {
  if (prefer === undefined) return null;
  for (const preference of [prefer].flat().join(',').split(',')) {
    const [, name, quoted, token] = PREFERENCE.exec(preference) ?? [];
    if (name?.toLowerCase() !== 'wait') continue;
    const value = quoted ?? token ?? '';
    return /^\d{1,9}$/.test(value) ? Math.min(Number(value), MOST_SECONDS) : null;
  }
  return null;
}
