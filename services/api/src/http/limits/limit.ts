import { LRUCache } from 'lru-cache';
import type { RateLimitStore } from '@pasteflow/postgres';
import { RequestError } from '../answers/request-error.ts';

/** A caller's standing with a limit, as far as this process knows. */
export interface Standing {
  readonly allowed: boolean;
  /** Points left in the window. */
  readonly remaining: number;
  /** Until the window ends and all points are available again. */
  readonly resetMs: number;
}

/** The part of a caller's points that this process has taken. */
interface Portion {
  /** Taken and not yet spent. */
  points: number;
  /** Points left for all processes when it was taken. */
  rest: number;
  /** The end of the window, as performance.now() counts; 0: nothing taken yet. */
  endsAt: number;
  /** Points of the requests that wait for the current take. */
  waiting: number;
  taking: Promise<void> | null;
}

const PORTIONS = 50;

/** At about 200 bytes each. A dropped caller's next request takes a new portion. */
const MAX_PORTIONS = 10_000;

/** After a failure Postgres is not asked again for this long, so that not every request asks it. */
const FAILURE_PAUSE_MS = 1000;

/**
 * A number of points for each caller and window, counted over all processes (ADR 12). A window begins with a
 * caller's first request. The count is in Postgres, but a process takes a fiftieth of the limit at a time and
 * spends it without asking. The limit is never exceeded; points that another process has taken may stay
 * unspent. Below 100 points a portion is one point.
 */
export class Limit {
  /** The prefix of its counters' keys; also shown to clients. */
  readonly name: string;
  /** Points of each caller in each window; at least 1. */
  readonly points: number;
  readonly windowSeconds: number;
  /** The value of the header `RateLimit-Policy`. */
  readonly policy: string;
  readonly #portion: number;
  readonly #store: Pick<RateLimitStore, 'count'>;
  readonly #onError: (error: unknown) => void;
  readonly #portions = new LRUCache<string, Portion>({
    maxSize: MAX_PORTIONS, // `max` would reserve the room of all of them at once
    sizeCalculation: () => 1,
  });
  #pausedUntil = 0;

  /**
   * @param exact takes only what is spent, so that Postgres has the exact count
   * @param onError called when Postgres can't count. For a second after that every request passes.
   */
  constructor({
    name,
    points,
    windowSeconds,
    exact = false,
    store,
    onError,
  }: Pick<Limit, 'name' | 'points' | 'windowSeconds'> & {
    readonly exact?: boolean;
    readonly store: Pick<RateLimitStore, 'count'>;
    readonly onError: (error: unknown) => void;
  }) {
    this.name = name;
    this.points = points;
    this.windowSeconds = windowSeconds;
    this.policy = `"${name}";q=${points};w=${windowSeconds}`;
    this.#portion = exact ? 1 : Math.max(1, Math.floor(points / PORTIONS));
    this.#onError = onError;
    this.#store = store;
  }

  /**
   * Spends points of the caller, if they are left, and at most those of a whole window.
   * @returns null when Postgres can't count: the request passes
   */
  async spend(caller: string, points = 1): Promise<Standing | null> {
    const portion = this.#portionOf(caller);
    const amount = Math.min(points, this.points);
    for (;;) {
      if (performance.now() < portion.endsAt) {
        if (portion.points >= amount) {
          portion.points -= amount;
          return standingOf(portion, true);
        }
        if (portion.points + portion.rest < amount) return standingOf(portion, false);
      }
      if (performance.now() < this.#pausedUntil) return null;
      portion.waiting += amount;
      portion.taking ??= this.#take(caller, portion).finally(() => {
        portion.taking = null;
      });
      await portion.taking;
      portion.waiting -= amount;
    }
  }

  /** Lets this process spend points again that the caller has spent in this window. */
  giveBack(caller: string, points: number): void {
    const portion = this.#portions.get(caller);
    if (portion !== undefined) portion.points += Math.min(points, this.points);
  }

  /** What this process knows without asking Postgres; null: the caller has not been seen in this window. */
  standing(caller: string): Standing | null {
    const portion = this.#portions.get(caller);
    if (portion === undefined || performance.now() >= portion.endsAt) return null;
    return standingOf(portion, portion.points > 0 || portion.rest > 0);
  }

  /** Takes a portion, or what the waiting requests need if that is more, in one statement. */
  async #take(caller: string, portion: Portion): Promise<void> {
    const left = performance.now() < portion.endsAt ? portion.points : 0;
    const requested = Math.max(this.#portion, portion.waiting - left);
    try {
      const { points, leftMs } = await this.#store.count(
        `${this.name}:${caller}`,
        requested,
        this.windowSeconds,
      );
      const takenBefore = points - requested;
      const isSameWindow = takenBefore > 0 && performance.now() < portion.endsAt;
      const taken = Math.min(requested, Math.max(0, this.points - takenBefore));
      portion.points = taken + (isSameWindow ? portion.points : 0);
      portion.rest = Math.max(0, this.points - points);
      portion.endsAt = performance.now() + leftMs;
    } catch (error) {
      this.#pausedUntil = performance.now() + FAILURE_PAUSE_MS;
      this.#onError(error);
    }
  }

  #portionOf(caller: string): Portion {
    const known = this.#portions.get(caller);
    if (known !== undefined) return known;
    const portion = { points: 0, rest: 0, endsAt: 0, waiting: 0, taking: null };
    this.#portions.set(caller, portion);
    return portion;
  }
}

function standingOf({ points, rest, endsAt }: Portion, allowed: boolean): Standing {
  return { allowed, remaining: points + rest, resetMs: Math.max(0, endsAt - performance.now()) };
}

const MINUTE = 60;
const HOUR = 3600;

const unitsOf: Readonly<Record<string, string>> = {
  anonymous_bytes: 'bytes of all pastes without a token',
  all_anonymous_bytes: 'bytes of all pastes without a token',
  address_bytes: 'bytes of pastes without a token',
  site_bytes: 'bytes of pastes without a token from your /48',
  site_address_bytes: 'bytes of pastes without a token from your /48',
};

/** The refusal of a request. */
export function rateLimited({ name, points, windowSeconds }: Limit, standing: Standing): RequestError {
  const seconds = secondsUntilReset(standing);
  const unit = windowSeconds === MINUTE ? 'minute' : windowSeconds === HOUR ? 'hour' : 'day';
  const of = unitsOf[name] ?? name;
  const used = standing.remaining === 0 ? 'is used up' : `has ${standing.remaining} left`;
  const detail = `The limit of ${points} ${of} per ${unit} ${used}. Try again in ${seconds} s.`;
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
}

/** Whole seconds, at least 1: a caller that returns after them finds a new window. */
function secondsUntilReset({ resetMs }: Standing): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers-10: lists of structured fields (RFC 9651), one item for
 * each limit. A limit with an unknown standing has only its policy.
 */
export function limitFields(
  standings: ReadonlyMap<Limit, Standing | null>,
): Readonly<Record<string, string>> {
  const policies: string[] = [];
  const items: string[] = [];
  for (const [{ name, policy }, standing] of standings) {
    policies.push(policy);
    if (standing !== null) items.push(`"${name}";r=${standing.remaining};t=${secondsUntilReset(standing)}`);
  }
  return {
    ...(policies.length > 0 && { 'RateLimit-Policy': policies.join(', ') }),
    ...(items.length > 0 && { RateLimit: items.join(', ') }),
  };
}
