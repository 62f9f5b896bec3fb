import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Metrics } from '@pasteflow/runtime';
import { RequestError } from '../answers/request-error.ts';
import { callerKeyOf } from '../callers/caller.ts';
import { callerOf } from '../callers/caller-of.ts';
import { SharedBudget } from './shared-budget.ts';

/** Seconds. A place becomes free when one of the caller's uploads or jobs ends, or a client disconnects. */
const RETRY_AFTER = '1';

/** With Prefer: wait, for events, or for content whose upload is in progress. */
type WaitingKind = 'wait' | 'events' | 'content';

/** How many requests of each caller wait in this process: one caller can't take all MAX_WAITERS places. */
export class WaitingPlaces {
  readonly #perCaller: number;
  readonly #places: SharedBudget;
  readonly #refusals;

  constructor(perCaller: number, metrics: Metrics) {
    this.#perCaller = perCaller;
    this.#places = new SharedBudget({ total: Infinity, perCaller });
    this.#refusals = metrics.counter({
      name: 'live_waiters_refused_total',
      help: 'Requests that could not wait because their caller had too many waiting requests. They were answered 429, and reads of content were answered at once.',
      labels: ['kind'],
    });
    for (const kind of ['wait', 'events', 'content']) this.#refusals.inc({ kind }, 0);
  }

  /** Takes a place until the answer has ended. @throws RequestError rate_limited */
  take(req: Request, res: ServerResponse, kind: WaitingKind): void {
    const leave = this.tryTake(req, kind);
    if (leave === null) {
      throw new RequestError(
        'rate_limited',
        `${this.#perCaller} of your requests are waiting for changes. Send this request again when one of them has ended.`,
        { headers: { 'Retry-After': RETRY_AFTER } },
      );
    }
    res.once('close', leave);
    if (res.destroyed) leave(); // the event came before the listener
  }

  /** @returns what gives the place back; null: the caller has no place left */
  tryTake(req: Request, kind: WaitingKind): (() => void) | null {
    const place = this.#places.open(callerKeyOf(callerOf(req)));
    if (place.raiseTo(1) === null) return () => place.release();
    this.#refusals.inc({ kind });
    return null;
  }
}
