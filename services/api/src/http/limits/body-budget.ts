import type { IncomingMessage } from 'node:http';
import type { Metrics } from '@pasteflow/runtime';
import { demandedBytes, type BegunBody, type BodyReading, type BudgetOfBodies } from '../body/read-body.ts';
import { RequestError } from '../answers/request-error.ts';
import { limitKeyOf } from '../callers/caller.ts';
import { callerOf } from '../callers/caller-of.ts';
import { SharedBudget, type BudgetShare, type Refusal } from './shared-budget.ts';

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

/** A body of which less arrives for this long has stopped: as much as it needs to arrive in half of the time. */
const STALL_MS = 2000;

/** Whether a body goes on to arrive. */
class Pace {
  readonly #declared: number;
  readonly #timeLimitMs: number;
  #arrived = 0;
  /** When, and with how many bytes, it had last advanced as far as it should in half of STALL_MS. */
  #advanced = { at: performance.now(), bytes: 0 };

  constructor(declared: number, timeLimitMs: number) {
    this.#declared = declared;
    this.#timeLimitMs = timeLimitMs;
  }

  arrived(bytes: number): void {
    this.#arrived = bytes;
    const demanded = demandedBytes(
      { declared: this.#declared, arrived: bytes },
      STALL_MS / 2,
      this.#timeLimitMs,
    );
    if (bytes - this.#advanced.bytes >= demanded) this.#advanced = { at: performance.now(), bytes };
  }

  get hasStopped(): boolean {
    return this.#arrived > 0 && performance.now() - this.#advanced.at > STALL_MS;
  }
}

/** A body of which more is to arrive. */
interface ArrivingBody {
  readonly caller: string;
  readonly pace: Pace;
  readonly shares: () => readonly BudgetShare[];
  readonly giveWay: () => void;
}

/**
 * The bytes of all bodies that this process is reading or working on. The bytes of a body are counted as they
 * arrive, and until its request has been handled: an insert holds the content until Postgres has answered. A
 * body for which there is no room is refused and never waits, so that no two of them wait for each other. One
 * that has stopped arriving gives way when another caller needs its room.
 */
export class BodyBudget implements BudgetOfBodies {
  readonly timeLimitMs: number;
  readonly #small: SharedBudget;
  readonly #arriving: SharedBudget;
  readonly #large: SharedBudget;
  readonly #unfinished = new SharedBudget({ total: Infinity, perCaller: MAX_UNFINISHED_PER_CALLER });
  readonly #bodies = new Set<ArrivingBody>();
  readonly #shares = new WeakMap<IncomingMessage, BudgetShare>();
  readonly #added = new WeakMap<IncomingMessage, BudgetShare>();
  readonly #refusals;

  constructor({
    maxBytes,
    timeLimitMs,
    metrics,
  }: {
    readonly maxBytes: number;
    readonly timeLimitMs: number;
    readonly metrics: Metrics;
  }) {
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
      help: 'Bodies that were refused because too many bytes were in flight, of all callers or of this one, because too many bodies of this caller were unfinished, or because they had stopped arriving.',
      labels: ['of'],
    });
  }

  /** A body that declares too much is refused before it is sent. @throws RequestError overloaded */
  begin(req: IncomingMessage, { declared, weight, giveWay }: BegunBody): BodyReading {
    const caller = limitKeyOf(callerOf(req));
    const place = this.#unfinished.open(caller);
    // A body that came with its headers holds no place.
    if (!req.complete && place.raiseTo(1) !== null) this.#refuse('unfinished');
    let isSmall = declared <= SMALL_BODY_BYTES;
    let share = (isSmall ? this.#small : this.#large).open(caller);
    const arriving = this.#arriving.open(caller);
    const body: ArrivingBody = {
      caller,
      pace: new Pace(declared, this.timeLimitMs),
      shares: () => [share, arriving],
      giveWay: () => {
        ended();
        share.release();
        this.#refusals.inc({ of: 'stalled' });
        giveWay(new RequestError('overloaded', refusals.stalled));
      },
    };
    const ended = (): void => {
      this.#bodies.delete(body);
      place.release();
      arriving.release();
    };
    const refusal = this.#askFor(share, declared * weight, body);
    if (refusal !== null) {
      place.release();
      this.#refuse(refusal);
    }
    this.#bodies.add(body);
    this.#shares.set(req, share);
    return {
      arrived: (bytes) => {
        body.pace.arrived(bytes);
        if (isSmall && bytes > SMALL_BODY_BYTES) {
          isSmall = false;
          arriving.release();
          share.release();
          share = this.#large.open(caller);
          this.#shares.set(req, share);
        }
        const isArriving = isSmall && !req.complete && bytes !== declared;
        const wanted = isArriving ? [arriving, share] : [share];
        for (const each of wanted) {
          const refused = this.#askFor(each, bytes * weight, body) ?? each.raiseTo(bytes * weight);
          if (refused !== null) this.#refuse(refused);
        }
      },
      ended,
    };
  }

  /** Counts content that a request has beside its body until it has been handled. @throws RequestError overloaded */
  add(req: IncomingMessage, bytes: number): void {
    const share = this.#large.open(limitKeyOf(callerOf(req)));
    const refusal = share.raiseTo(bytes);
    if (refusal !== null) this.#refuse(refusal);
    this.#added.set(req, share);
  }

  /** Call it when the request has been handled, however it ended. */
  release(req: IncomingMessage): void {
    this.#shares.get(req)?.release();
    this.#added.get(req)?.release();
  }

  /**
   * Whether the share could be raised to `amount`, now or after bodies of other callers that have stopped
   * arriving have given way, the largest first. None gives way in vain.
   */
  #askFor(share: BudgetShare, amount: number, { caller }: ArrivingBody): Refusal | null {
    const refusal = share.wouldRefuse(amount);
    if (refusal !== 'total') return refusal;
    const stalled = [...this.#bodies]
      .filter((body) => body.caller !== caller && body.pace.hasStopped)
      .map((body) => ({ body, held: heldOf(body, share) }))
      .filter(({ held }) => held > 0)
      .toSorted((a, b) => b.held - a.held);
    let freed = 0;
    for (const [n, { held }] of stalled.entries()) {
      freed += held;
      if (share.wouldRefuse(amount, freed) === 'total') continue;
      for (const { body } of stalled.slice(0, n + 1)) body.giveWay();
      return share.wouldRefuse(amount);
    }
    return refusal;
  }

  #refuse(of: 'total' | 'caller' | 'unfinished'): never {
    this.#refusals.inc({ of });
    throw new RequestError('overloaded', refusals[of]);
  }
}

/** What a body holds of the budget of a share. */
function heldOf({ shares }: ArrivingBody, share: BudgetShare): number {
  return shares().find((each) => each.sharesWith(share))?.held ?? 0;
}

const refusals = {
  total: 'Too many bytes are being received at the moment. Send the request again later.',
  caller: 'You are sending too many bytes at the same time. Send this request again when others have ended.',
  unfinished: `${MAX_UNFINISHED_PER_CALLER} of your requests are still being sent. Send this request again when others have ended.`,
  stalled: 'Your body had stopped arriving when another caller needed its room. Send the request again.',
};
