import type { IncomingMessage } from 'node:http';
import type { Metrics } from '@pasteflow/runtime';
import type { BodyReading, BudgetOfBodies } from '../http/body/read-body.ts';
import { RequestError } from '../http/errors/request-error.ts';
import { limitKeyOf } from '../http/request/caller.ts';
import { callerOf } from '../identity/caller-of.ts';
import { SharedBudget, type BudgetShare } from './shared-budget.ts';

/** Most pastes are smaller. Bodies up to this size have a part of the budget that larger ones can't take. */
const SMALL_BODY_BYTES = 64 * 1024;
const SHARE_OF_SMALL_BODIES = 0.25;

/**
 * The shares of the part for small bodies that unfinished bodies may hold: all of them together, and those
 * of one caller. The rest serves small bodies that arrive at once, however many callers send slowly.
 */
const SHARE_OF_ARRIVING = 1 / 2;
const SHARE_OF_ARRIVING_PER_CALLER = 1 / 16;

/** Bodies of one caller that have not arrived yet: each keeps its connection from being closed as idle. */
const MAX_UNFINISHED_PER_CALLER = 200;

interface BodyBudgetOptions {
  readonly maxBytes: number;
  readonly timeLimitMs: number;
  readonly metrics: Metrics;
}

/**
 * The bytes of all bodies that this process is reading or working on. The bytes of a body are counted as they
 * arrive, and until its request has been handled: an insert holds the content until Postgres has answered. A
 * body for which there is no room is refused and never waits, so that no two of them wait for each other.
 */
export class BodyBudget implements BudgetOfBodies {
  readonly timeLimitMs: number;
  readonly #small: SharedBudget;
  readonly #arriving: SharedBudget;
  readonly #large: SharedBudget;
  readonly #unfinished = new SharedBudget({ total: Infinity, perCaller: MAX_UNFINISHED_PER_CALLER });
  readonly #shares = new WeakMap<IncomingMessage, BudgetShare>();
  readonly #refusals;

  constructor({ maxBytes, timeLimitMs, metrics }: BodyBudgetOptions) {
    this.timeLimitMs = timeLimitMs;
    const ofSmall = maxBytes * SHARE_OF_SMALL_BODIES;
    this.#small = new SharedBudget({ total: ofSmall, perCaller: ofSmall / 2 });
    this.#arriving = new SharedBudget({
      total: ofSmall * SHARE_OF_ARRIVING,
      perCaller: ofSmall * SHARE_OF_ARRIVING_PER_CALLER,
    });
    this.#large = new SharedBudget({ total: maxBytes - ofSmall, perCaller: (maxBytes - ofSmall) / 2 });
    metrics.computed(
      {
        name: 'http_body_bytes',
        help: 'Bytes of bodies in flight, weighted by the memory that they take, and their limit.',
        type: 'gauge',
        labels: ['kind'],
      },
      () => [
        { labels: { kind: 'in_flight' }, value: this.#small.used + this.#large.used },
        { labels: { kind: 'limit' }, value: maxBytes },
      ],
    );
    this.#refusals = metrics.counter({
      name: 'http_bodies_refused_total',
      help: 'Bodies that were refused because too many bytes were in flight, of all callers or of this one, or because too many bodies of this caller were unfinished.',
      labels: ['of'],
    });
  }

  /** A body that declares too much is refused before it is sent. @throws RequestError overloaded */
  begin(req: IncomingMessage, { declared, weight }: { declared: number; weight: number }): BodyReading {
    const caller = limitKeyOf(callerOf(req));
    const place = this.#unfinished.open(caller);
    // A body that came with its headers holds no place.
    if (!req.complete && place.raiseTo(1) !== null) this.#refuse('unfinished');
    let isSmall = declared <= SMALL_BODY_BYTES;
    const budget = isSmall ? this.#small : this.#large;
    let share = budget.open(caller);
    const refusal = share.wouldRefuse(declared * weight);
    if (refusal !== null) {
      place.release();
      this.#refuse(refusal);
    }
    this.#shares.set(req, share);
    const arriving = this.#arriving.open(caller);
    return {
      arrived: (bytes) => {
        if (isSmall && bytes > SMALL_BODY_BYTES) {
          isSmall = false;
          arriving.release();
          share.release();
          share = this.#large.open(caller);
          this.#shares.set(req, share);
        }
        const isArriving = isSmall && !req.complete && bytes !== declared;
        const refused =
          (isArriving ? arriving.raiseTo(bytes * weight) : null) ?? share.raiseTo(bytes * weight);
        if (refused !== null) this.#refuse(refused);
      },
      ended: () => {
        place.release();
        arriving.release();
      },
    };
  }

  /** Call it when the request has been handled, however it ended. */
  release(req: IncomingMessage): void {
    this.#shares.get(req)?.release();
  }

  #refuse(of: 'total' | 'caller' | 'unfinished'): never {
    this.#refusals.inc({ of });
    throw new RequestError('overloaded', refusals[of]);
  }
}

const refusals = {
  total: 'Too many bytes are being received at the moment. Send the request again later.',
  caller: 'You are sending too many bytes at the same time. Send this request again when others have ended.',
  unfinished: `${MAX_UNFINISHED_PER_CALLER} of your requests are still being sent. Send this request again when others have ended.`,
};
