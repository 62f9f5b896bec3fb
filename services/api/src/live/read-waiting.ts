import type { PasteRow, Subscription } from '@pasteflow/postgres';
import type { Request, Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { contextOf } from '../http/request/request-context.ts';
import { invalidToken, sessionEnded } from '../http/callers/authorization.ts';
import { callerOf } from '../http/callers/caller-of.ts';
import type { Watcher } from './change-poller.ts';
import type { Live } from './live.ts';

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
 * @throws RequestError rate_limited; unauthorized when the caller's token or session has ended meanwhile; and
 *   as `find`
 */
export async function readWaiting<Row extends { readonly id: string }>(
  live: Live,
  req: Request,
  res: Response,
  { kind, find, isSettled }: Waitable<Row>,
): Promise<Row | null> {
  const seconds = preferredWait(req);
  let row: Row | null = await find();
  if (seconds === null) return row;
  let isApplied = true;
  if (seconds > 0 && !isSettled(row)) {
    live.places.take(req, res, 'wait');
    const { id } = row;
    row = null; // it may be long, and isn't kept while its reader waits
    isApplied = await waitForEnd(live, req, res, { purpose: 'wait', kind, id, ms: seconds * 1000 });
    row = await readAgain(live, res, find);
    if (row === null) return null;
  }
  if (isApplied) res.set('Preference-Applied', `wait=${seconds}`);
  return row;
}

/**
 * Lets a read of content wait for an upload in progress, which usually ends within 0.1 s. The client did
 * not ask for a wait, so without a free place the read is answered at once.
 * @param ms 0: reads of content never wait
 * @returns whether the read has waited, so that the row is out of date
 */
export async function waitForUpload(
  live: Live,
  { id }: Pick<PasteRow, 'id'>,
  req: Request,
  res: Response,
  ms: number,
): Promise<boolean> {
  if (ms === 0) return false;
  const leavePlace = live.places.tryTake(req, 'content');
  if (leavePlace === null) return false;
  try {
    return await waitForEnd(live, req, res, { purpose: 'content', kind: 'upload', id, ms });
  } finally {
    leavePlace();
  }
}

/**
 * Reads a row after a wait. Thousands of waits may end at once, for example when the process stops: they take
 * turns, because each read that waits too long for a connection is refused, and so are those of other requests.
 * @returns null when the client has disconnected
 * @throws as `find`, and DependencyUnavailableError when the turn does not come
 */
export async function readAgain<Row>(
  { turns }: Live,
  res: Response,
  find: () => Promise<Row>,
): Promise<Row | null> {
  return await turns.runExclusive(async () => (res.destroyed ? null : await find()));
}

/**
 * Waits until an upload or a job has ended, the paste or job is gone, the time is over, the process stops or
 * the client has disconnected. What has happened is not told: read the row afterwards.
 * @returns false when too many clients wait in this process already: nothing was waited for
 * @throws RequestError unauthorized when the caller's token or session has ended
 */
async function waitForEnd(
  { poller, heartbeat }: Pick<Live, 'poller' | 'heartbeat'>,
  req: Request,
  res: Response,
  {
    purpose,
    kind,
    id,
    ms,
  }: {
    readonly purpose: 'wait' | 'content';
    readonly kind: Subscription['kind'];
    readonly id: string;
    readonly ms: number;
  },
): Promise<boolean> {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const watcher: Watcher = {
    purpose,
    kind,
    id,
    wants: () => ({ after: null }),
    onSnapshot: (snapshot) => {
      if (snapshot === null || snapshot.settled || snapshot.gone) end();
    },
    onStop: end,
  };
  if (!poller.watch(watcher)) return false;
  let isRefused = false;
  const refuse = (): void => {
    isRefused = true;
    end();
  };
  const stream = { caller: callerOf(req), beat: () => {}, refuse };
  heartbeat.add(stream);
  const context = contextOf(req);
  context.waitingSinceMs = performance.now();
  const timer = setTimeout(end, ms);
  res.once('close', end);
  if (res.destroyed) end(); // the event came before the listener
  await promise;
  clearTimeout(timer);
  res.off('close', end);
  poller.unwatch(watcher);
  heartbeat.remove(stream);
  context.waitedUntilMs = performance.now();
  if (isRefused) throw req.headers.authorization === undefined ? sessionEnded() : invalidToken();
  return true;
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
