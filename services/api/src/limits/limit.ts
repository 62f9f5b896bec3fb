import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimitStore } from '@pasteflow/postgres';

export interface LimitOptions {
  /** Its counters' keys start with it, and clients see it. */
  readonly name: string;
  /** Points that a caller has in each window; 1 or more. */
  readonly points: number;
  readonly store: RateLimitStore;
  /** Told when Postgres can't count: for a second after that everything passes. */
  readonly onError: (error: unknown) => void;
}

/** How a caller stands with a limit, as far as this process knows. */
export interface Standing {
  readonly allowed: boolean;
  /** Points left in this window. */
  readonly remaining: number;
  /** Until the window ends, and all points are there again. */
  readonly resetMs: number;
}

/** The part of a caller's points that this process has taken. */
interface Portion {
  /** Taken and not yet spent. */
  points: number;
  /** What was left for all processes when it was taken. */
  rest: number;
  /** Of the window, in Unix milliseconds; 0: nothing taken yet. */
  endsAt: number;
  /** Requests that wait for the taking that is under way. */
  waiting: number;
  taking: Promise<void> | null;
}

/** From a caller's first request on. */
export const WINDOW_SECONDS = 60;

/** A limit is taken in so many portions: see Limit. */
const PORTIONS = 50;

/** Callers whose portions are kept, at about 200 bytes: for one who was dropped the next request takes a new portion. */
const MAX_PORTIONS = 10_000;

/** Postgres, once it has failed, isn't asked by every request. */
const SILENCE_MS = 1000;

/**
 * So many points for each caller and window, in all processes together. The count is in Postgres, but not asked for each request: a process
 * takes a fiftieth of the limit at a time, and spends that by itself until the window ends. So a busy caller costs at most some 50 statements
 * a window instead of one a request; what it costs the caller is that points taken by one process are not to be had from another: of the
 * limit up to (processes × (a fiftieth − 1)) may stay unspent. It is never exceeded, and below 100 points it is exact: then a portion is one
 * point. (Windows end by each process's own clock: clocks that differ by a second let a portion count in a window that is a second old.)
 */
export class Limit {
  readonly name: string;
  readonly points: number;
  readonly #portion: number;
  readonly #counters: RateLimiterPostgres;
  readonly #onError: (error: unknown) => void;
  readonly #portions = new Map<string, Portion>();
  #silentUntil = 0;

  constructor({ name, points, store, onError }: LimitOptions) {
    this.name = name;
    this.points = points;
    this.#portion = Math.max(1, Math.floor(points / PORTIONS));
    this.#onError = onError;
    this.#counters = new RateLimiterPostgres({
      storeClient: store,
      storeType: 'client',
      tableName: 'rate_limits',
      tableCreated: true, // by a migration
      clearExpiredByTimeout: false, // by the janitor
      keyPrefix: name,
      points,
      duration: WINDOW_SECONDS,
    });
  }

  /** Spends a point of the caller's, unless there is none. @returns null when Postgres can't tell: then it passes */
  async spend(caller: string): Promise<Standing | null> {
    const portion = this.#portionOf(caller);
    for (;;) {
      if (Date.now() < portion.endsAt) {
        if (portion.points > 0) {
          portion.points -= 1;
          return standingOf(portion, true);
        }
        if (portion.rest === 0) return standingOf(portion, false);
      }
      if (Date.now() < this.#silentUntil) return null;
      portion.waiting += 1;
      portion.taking ??= this.#take(caller, portion).finally(() => {
        portion.taking = null;
      });
      await portion.taking;
      portion.waiting -= 1;
    }
  }

  /** What this process knows without asking; null: it has seen nothing of the caller in this window. */
  standing(caller: string): Standing | null {
    const portion = this.#portions.get(caller);
    if (portion === undefined || Date.now() >= portion.endsAt) return null;
    return standingOf(portion, portion.points > 0 || portion.rest > 0);
  }

  /** A portion, or as much as there are requests waiting for, in one statement. */
  async #take(caller: string, portion: Portion): Promise<void> {
    const wanted = Math.max(this.#portion, portion.waiting);
    try {
      const { consumedPoints, msBeforeNext } = await this.#counters.consume(caller, wanted).catch(asAnswer);
      const takenBefore = consumedPoints - wanted;
      portion.points = Math.min(wanted, Math.max(0, this.points - takenBefore));
      portion.rest = Math.max(0, this.points - consumedPoints);
      portion.endsAt = Date.now() + msBeforeNext;
    } catch (error) {
      this.#silentUntil = Date.now() + SILENCE_MS;
      this.#onError(error);
    }
  }

  /** It moves to the end: who is dropped is who hasn't come for longest. */
  #portionOf(caller: string): Portion {
    const portion = this.#portions.get(caller) ?? { points: 0, rest: 0, endsAt: 0, waiting: 0, taking: null };
    this.#portions.delete(caller);
    this.#portions.set(caller, portion);
    const [oldest] = this.#portions.keys();
    if (this.#portions.size > MAX_PORTIONS && oldest !== undefined) this.#portions.delete(oldest);
    return portion;
  }
}

function standingOf({ points, rest, endsAt }: Portion, allowed: boolean): Standing {
  return { allowed, remaining: points + rest, resetMs: Math.max(0, endsAt - Date.now()) };
}

/** More than there was is asked for on purpose, to get what is left: that is an answer, and no error. */
function asAnswer(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal;
  throw refusal;
}
