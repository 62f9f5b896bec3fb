import type { Request, Response } from 'express';
import type { Seen, Wanted } from '@pasteflow/postgres';
import { contextOf } from '../http/request/request-context.ts';
import { EndWaiter } from './end-waiter.ts';
import type { Live } from './live.ts';
import { preferredWait } from './prefer.ts';

/** What is read, and until when it is worth waiting. */
export interface Waitable<Row extends { readonly id: string }, Shown> {
  readonly kind: Wanted['kind'];
  /** What the URL names, for this caller. @throws as without a wait */
  readonly find: () => Promise<Row>;
  readonly isSettled: (row: Row) => boolean;
  readonly shown: (row: Row) => Shown;
  /** What was found at the end of the wait; null: it has been removed. @throws as `find` */
  readonly shownOf: (seen: Seen | null) => Shown;
}

type First<Shown> = { readonly shown: Shown; readonly applied: boolean } | { readonly waiter: EndWaiter };

/**
 * Reads something, and with `Prefer: wait=N` waits until nothing more will come of it, or N seconds. When too many wait already, the preference is
 * not applied, which RFC 7240 leaves to a server: the answer comes at once, and doesn't say Preference-Applied.
 * @returns null when the client has gone
 */
export async function readWaiting<Row extends { readonly id: string }, Shown>(
  { watch }: Live,
  req: Request,
  res: Response,
  { kind, find, isSettled, shown, shownOf }: Waitable<Row, Shown>,
): Promise<Shown | null> {
  const seconds = preferredWait(req);
  if (seconds === null) return shown(await find());
  // A row may be long: it isn't kept while its reader waits.
  const first = await watch.reading(async (since): Promise<First<Shown>> => {
    const row = await find();
    if (seconds === 0 || isSettled(row)) return { shown: shown(row), applied: true };
    const waiter = new EndWaiter(watch, { kind, id: row.id, seconds });
    return watch.watch(waiter, since) ? { waiter } : { shown: shown(row), applied: false };
  });
  if (!('waiter' in first)) {
    if (first.applied) res.set('Preference-Applied', `wait=${seconds}`);
    return first.shown;
  }
  const context = contextOf(req);
  context.waitingSinceMs = performance.now();
  const outcome = await first.waiter.outcome(res).finally(() => (context.waitedUntilMs = performance.now()));
  if (outcome.kind === 'left') return null;
  const found = shownOf(outcome.seen);
  res.set('Preference-Applied', `wait=${seconds}`);
  return found;
}
