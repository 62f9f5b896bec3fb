import type { Snapshot, Subscription } from '@pasteflow/postgres';
import type { Request, Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { contextOf } from '../http/request/request-context.ts';
import { EndWaiter } from './end-waiter.ts';
import type { Live } from './live.ts';

/** How an endpoint reads its paste or job, with or without a wait. */
export interface Waitable<Row extends { readonly id: string }, Shown> {
  readonly kind: Subscription['kind'];
  /** Finds the paste or job of the URL for this caller. @throws as without a wait */
  readonly find: () => Promise<Row>;
  readonly isSettled: (row: Row) => boolean;
  readonly shown: (row: Row) => Shown;
  /** From the read that ended the wait; null: the paste or job was removed. @throws as `find` */
  readonly shownOf: (snapshot: Snapshot | null) => Shown;
}

/** The answer without a wait, or the wait that has begun. */
type Start<Shown> = { readonly shown: Shown; readonly applied: boolean } | { readonly waiter: EndWaiter };

/**
 * Reads a paste or job. With `Prefer: wait=N` it waits until the paste or job has ended, for at most N
 * seconds. When too many clients wait already, the answer comes at once and has no Preference-Applied: RFC
 * 7240 lets a server ignore a preference. When too many of the caller's own clients wait, the answer is 429:
 * a program that waits at full speed would otherwise become one that polls at full speed.
 * @returns null when the client has disconnected
 * @throws RequestError rate_limited, and as `find`
 */
export async function readWaiting<Row extends { readonly id: string }, Shown>(
  live: Live,
  req: Request,
  res: Response,
  waitable: Waitable<Row, Shown>,
): Promise<Shown | null> {
  const seconds = preferredWait(req);
  if (seconds === null) return waitable.shown(await waitable.find());
  const start = await startWait(live, { req, res, seconds }, waitable);
  if (!('waiter' in start)) {
    if (start.applied) res.set('Preference-Applied', `wait=${seconds}`);
    return start.shown;
  }
  const context = contextOf(req);
  context.waitingSinceMs = performance.now();
  const outcome = await start.waiter.outcome(res).finally(() => (context.waitedUntilMs = performance.now()));
  if (outcome.kind === 'disconnected') return null;
  const shown = waitable.shownOf(outcome.snapshot);
  res.set('Preference-Applied', `wait=${seconds}`);
  return shown;
}

/** A function of its own: the row may be long, and isn't kept while its reader waits. */
async function startWait<Row extends { readonly id: string }, Shown>(
  { poller, takePlace }: Live,
  { req, res, seconds }: { readonly req: Request; readonly res: Response; readonly seconds: number },
  { kind, find, isSettled, shown }: Waitable<Row, Shown>,
): Promise<Start<Shown>> {
  const row = await find();
  if (seconds === 0 || isSettled(row)) return { shown: shown(row), applied: true };
  takePlace(req, res, 'wait');
  const waiter = new EndWaiter(poller, { kind, id: row.id, seconds });
  return poller.watch(waiter) ? { waiter } : { shown: shown(row), applied: false };
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
