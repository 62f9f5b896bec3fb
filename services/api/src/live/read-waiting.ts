import type { Subscription } from '@pasteflow/postgres';
import type { Request, Response } from 'express';
import type { IncomingMessage } from 'node:http';
import type { Live } from './live.ts';
import { waitForEnd } from './wait-for-end.ts';

/** How an endpoint reads its paste or job. */
interface Waitable<Row> {
  readonly kind: Subscription['kind'];
  /** Finds the paste or job of the URL for this caller. */
  readonly find: () => Promise<Row>;
  readonly isSettled: (row: Row) => boolean;
}

/**
 * Reads a paste or job. With `Prefer: wait=N` it waits until the paste or job has ended, for at most N
 * seconds. When too many clients wait already, the answer comes at once and has no Preference-Applied: RFC
 * 7240 lets a server ignore a preference. When too many of the caller's own clients wait, the answer is 429:
 * a program that waits at full speed would otherwise become one that polls at full speed.
 * @returns null when the client has disconnected
 * @throws RequestError rate_limited, and as `find`
 */
export async function readWaiting<Row extends { readonly id: string }>(
  { poller, places }: Live,
  req: Request,
  res: Response,
  { kind, find, isSettled }: Waitable<Row>,
): Promise<Row | null> {
  const seconds = preferredWait(req);
  let row: Row | null = await find();
  if (seconds === null) return row;
  let isApplied = true;
  if (seconds > 0 && !isSettled(row)) {
    places.take(req, res, 'wait');
    const { id } = row;
    row = null; // it may be long, and isn't kept while its reader waits
    isApplied = await waitForEnd(poller, req, res, { purpose: 'wait', kind, id, ms: seconds * 1000 });
    if (res.destroyed) return null;
    row = await find();
  }
  if (isApplied) res.set('Preference-Applied', `wait=${seconds}`);
  return row;
}

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
