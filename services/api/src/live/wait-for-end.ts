import type { Subscription } from '@pasteflow/postgres';
import type { Request, Response } from 'express';
import { contextOf } from '../http/request/request-context.ts';
import type { ChangePoller, Watcher } from './change-poller.ts';

/**
 * Waits until an upload or a job has ended, the paste or job is gone, the time is over, the process stops or
 * the client has disconnected. What has happened is not told: read the row afterwards.
 * @returns false when too many clients wait in this process already: nothing was waited for
 */
export async function waitForEnd(
  poller: ChangePoller,
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
  const context = contextOf(req);
  context.waitingSinceMs = performance.now();
  const timer = setTimeout(end, ms);
  res.once('close', end);
  if (res.destroyed) end(); // the event came before the listener
  await promise;
  clearTimeout(timer);
  res.off('close', end);
  poller.unwatch(watcher);
  context.waitedUntilMs = performance.now();
  return true;
}
