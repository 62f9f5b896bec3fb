import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Metrics } from '@pasteflow/runtime';
import { RequestError } from '../http/errors/request-error.ts';
import { callerKeyOf } from '../http/request/caller.ts';
import { callerOf } from '../identity/caller-of.ts';
import { SharedBudget } from './shared-budget.ts';

/** Seconds. A place becomes free when one of the caller's uploads or jobs ends, or a client disconnects. */
const RETRY_AFTER = '1';

/** How many requests of each caller wait in this process, so that one caller can't take all MAX_WAITERS places. */
export class WaitingPlaces {
  readonly #perCaller: number;
  readonly #places: SharedBudget;
  readonly #refusals;

  constructor(perCaller: number, metrics: Metrics) {
    this.#perCaller = perCaller;
    this.#places = new SharedBudget({ total: Infinity, perCaller });
    this.#refusals = metrics.counter({
      name: 'live_waiters_refused_total',
      help: 'Requests that were answered 429 because their caller had too many waiting requests.',
      labels: ['kind'],
    });
    for (const kind of ['wait', 'events']) this.#refusals.inc({ kind }, 0);
  }

  /** Takes a place until the answer has ended. @throws RequestError rate_limited */
  take(req: Request, res: ServerResponse, kind: 'wait' | 'events'): void {
    const place = this.#places.open(callerKeyOf(callerOf(req)));
    if (place.raiseTo(1) !== null) {
      this.#refusals.inc({ kind });
      throw new RequestError(
        'rate_limited',
        `${this.#perCaller} of your requests are waiting for changes. Send this request again when one of them has ended.`,
        { headers: { 'Retry-After': RETRY_AFTER } },
      );
    }
    res.once('close', () => place.release());
    if (res.destroyed) place.release(); // the event came before the listener
  }
}
