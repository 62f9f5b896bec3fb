import type { IncomingMessage } from 'node:http';

/** Longer waits are cut to this: proxies close a connection after a minute or so without a response. */
const MAX_WAIT_SECONDS = 60;

/** A list of every registered preference is shorter. */
const MAX_PREFER_LENGTH = 1000;

/**
 * RFC 7240, 2: `respond-async, wait=10; x="y"`. Names and values are tokens, and values may be quoted;
 * parameters are ignored.
 */
const PREFERENCE = /^\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:"([^"]*)"\s*|([\w!#$%&'*+.^`|~-]+)\s*)?)?(?:;|$)/;

/**
 * The seconds that the client asks to wait, at most 60; null: it does not ask. The first of several counts. A
 * malformed preference is ignored, because RFC 7240 defines no error for it.
 */
export function preferredWait({ headers: { prefer } }: IncomingMessage): number | null {
  const field = [prefer ?? []].flat().join(',');
  if (field.length > MAX_PREFER_LENGTH) return null;
  for (const preference of field.split(',')) {
    const [, name, quoted, token] = PREFERENCE.exec(preference) ?? [];
    if (name?.toLowerCase() !== 'wait') continue;
    const value = quoted ?? token ?? '';
    return /^\d{1,9}$/.test(value) ? Math.min(Number(value), MAX_WAIT_SECONDS) : null;
  }
  return null;
}
