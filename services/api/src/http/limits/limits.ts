import type { ServerResponse } from 'node:http';
import type { RateLimitStore } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import { callerKeyOf, siteKeyOf, type Caller } from '../callers/caller.ts';
import { Limit, limitFields, rateLimited, type Standing } from './limit.ts';

/** Points for each caller, in each minute unless they say otherwise; 0: no limit. */
interface LimitsConfig {
  readonly requests: number;
  /** POSTs, whatever they create. */
  readonly creations: number;
  /** Guesses: requests for pastes that don't exist, and invalid tokens. */
  readonly misses: number;
  /** Bytes of new pastes in an hour, imports included. All tokens of a user count as one caller. */
  readonly bytes: number;
  /**
   * Bytes of new pastes in an hour, of all callers without a token together. Beyond it small pastes pass, and
   * beyond twice as many none.
   */
  readonly anonymous_bytes: number;
  /** Bytes of new pastes in a day, of each address without a token. */
  readonly address_bytes: number;
  /** Reports of pastes in an hour, from each address. */
  readonly reports: number;
}

/** Those of the configuration, and those that follow from them. */
type LimitName = keyof LimitsConfig | 'site_bytes' | 'site_address_bytes' | 'all_anonymous_bytes';

/** The limits that a request counts against. */
export interface RequestKind {
  readonly creates: boolean;
  /** Whether it may be a guess at a short code. */
  readonly mayMiss: boolean;
}

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** The counter of all callers without a token. */
const ALL = 'all';

/** Large pastes of others without a token refuse no paste of up to this size. */
const SMALL_PASTE_BYTES = 64 * 1024;

/** The bytes that no paste without a token passes, as a multiple of those that large ones don't pass. */
const HARD_BOUND = 2;

/**
 * A device has a /64 of IPv6, and counts as one caller. A site may have a /48 with 65,536 of them, and may send
 * as many bytes as this many callers: offices have several people, and half of what all strangers may send is
 * left for others.
 */
const CALLERS_PER_SITE = 4;

/** They take two thirds of a millisecond of CPU time, about as much as another request. */
const INFLATED_BYTES_A_REQUEST = 256 * 1024;

/** A failing Postgres is logged at most this often, instead of with every request. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * The limits of each caller (limitKeyOf), and the RateLimit headers of the answers. While Postgres is
 * unavailable no limit refuses a request: those that need Postgres fail anyway, and the others should go on.
 */
export class Limits {
  /** Null: no limit. */
  readonly #limits: Readonly<Record<LimitName, Limit | null>>;
  readonly #refusals;
  readonly #store: RateLimitStore;
  readonly #standings = new WeakMap<ServerResponse, Map<Limit, Standing | null>>();

  constructor({
    limits,
    store,
    logger,
    metrics,
  }: {
    readonly limits: LimitsConfig;
    readonly store: RateLimitStore;
    readonly logger: Logger;
    readonly metrics: Metrics;
  }) {
    let warnAfter = 0;
    const onError = (error: unknown): void => {
      if (performance.now() < warnAfter) return;
      warnAfter = performance.now() + WARNING_INTERVAL_MS;
      logger.warn('rate limits suspended; Postgres is unavailable', { error });
    };
    const limit = (
      name: LimitName,
      windowSeconds: number,
      { exact = false, points }: { readonly exact?: boolean; readonly points: number },
    ): Limit | null =>
      points === 0 ? null : new Limit({ name, points, windowSeconds, exact, store, onError });
    const { requests, creations, misses, bytes, anonymous_bytes, address_bytes, reports } = limits;
    this.#store = store;
    this.#limits = {
      requests: limit('requests', MINUTE, { points: requests }),
      creations: limit('creations', MINUTE, { points: creations }),
      misses: limit('misses', MINUTE, { points: misses }),
      bytes: limit('bytes', HOUR, { points: bytes }),
      site_bytes: limit('site_bytes', HOUR, { points: CALLERS_PER_SITE * bytes }),
      anonymous_bytes: limit('anonymous_bytes', HOUR, { points: anonymous_bytes }),
      all_anonymous_bytes: limit('all_anonymous_bytes', HOUR, { points: HARD_BOUND * anonymous_bytes }),
      address_bytes: limit('address_bytes', DAY, { points: address_bytes, exact: true }),
      site_address_bytes: limit('site_address_bytes', DAY, {
        points: CALLERS_PER_SITE * address_bytes,
        exact: true,
      }),
      reports: limit('reports', HOUR, { points: reports }),
    };
    this.#refusals = metrics.counter({
      name: 'rate_limited_total',
      help: 'Requests that were answered 429 because a rate limit was used up, by the limit.',
      labels: ['limit'],
    });
    for (const name of Object.keys(this.#limits)) this.#refusals.inc({ limit: name }, 0);
  }

  /** Counts a request, before anything is looked up for it. @throws RequestError rate_limited */
  async count(res: ServerResponse, caller: string, { creates, mayMiss }: RequestKind): Promise<void> {
    const { misses, requests, creations } = this.#limits;
    if (mayMiss && misses !== null) this.#record(res, misses, misses.standing(caller));
    this.refuseUsedUp(res, 'requests', caller); // and spend no creation
    const [ofRequests = null, ofCreations = null] = await Promise.all([
      requests?.spend(caller),
      creates ? creations?.spend(caller) : undefined,
    ]);
    if (requests !== null) this.#record(res, requests, ofRequests);
    if (creates && creations !== null) this.#record(res, creations, ofCreations);
    this.#setHeaders(res);
  }

  /**
   * Counts a failed guess. Beyond the limit this process refuses the caller's reads until the window ends;
   * another process learns of it at the next miss there.
   * @returns what takes the miss back
   * @throws RequestError rate_limited
   */
  async countMiss(res: ServerResponse, caller: string): Promise<() => void> {
    const giveBack = await this.#spend(res, caller, this.#limits.misses);
    this.#setHeaders(res);
    return giveBack;
  }

  /**
   * Counts a read that inflates `bytes` which it doesn't send as several requests, at most half of those of a
   * minute: a download that is resumed near its end must not be refused for ever.
   * @throws RequestError rate_limited
   */
  async countInflated(res: ServerResponse, caller: string, bytes: number): Promise<void> {
    const { requests } = this.#limits;
    const most = Math.ceil((requests?.points ?? 0) / 2);
    const more = Math.min(most, Math.floor(bytes / INFLATED_BYTES_A_REQUEST));
    if (more > 0) await this.#spend(res, caller, requests, more);
    this.#setHeaders(res);
  }

  /** @param address the network that the report comes from @throws RequestError rate_limited */
  async countReport(res: ServerResponse, address: string): Promise<void> {
    await this.#spend(res, address, this.#limits.reports);
    this.#setHeaders(res);
  }

  /**
   * Costs no statement, and counts nothing.
   * @throws RequestError rate_limited for a caller who has used up this limit, as far as this process knows
   */
  refuseUsedUp(res: ServerResponse, name: 'requests' | 'misses', caller: string): void {
    this.#refuseUsedUp(res, this.#limits[name], caller);
  }

  /** As `refuseUsedUp`, before the body of a new paste is received. */
  refuseUsedUpBytes(res: ServerResponse, caller: Caller): void {
    for (const [limit, key] of this.#byteLimitsOf(caller)) this.#refuseUsedUp(res, limit, key);
  }

  /**
   * Counts the bytes of a new paste. One that a limit refuses costs the others none.
   * @returns what gives the bytes back: call it when the paste is not created
   * @throws RequestError rate_limited
   */
  async spendBytes(res: ServerResponse, caller: Caller, bytes: number): Promise<() => void> {
    const spent: (() => void)[] = [];
    const giveBack = (): void => {
      for (const each of spent) each();
    };
    try {
      for (const [limit, key] of this.#byteLimitsOf(caller))
        spent.push(await this.#spend(res, key, limit, bytes));
      if (caller.kind === 'anonymous') {
        const passes = bytes <= SMALL_PASTE_BYTES;
        spent.push(await this.#spend(res, ALL, this.#limits.anonymous_bytes, bytes, passes));
      }
      this.#setHeaders(res);
      return giveBack;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** The limits of bytes that no paste of the caller passes, each with the key that it counts: its own first. */
  #byteLimitsOf(caller: Caller): readonly (readonly [Limit | null, string])[] {
    const { bytes, address_bytes, site_bytes, site_address_bytes, all_anonymous_bytes } = this.#limits;
    const own = callerKeyOf(caller);
    if (caller.kind === 'user') return [[bytes, own]];
    const site = siteKeyOf(caller);
    return [
      [bytes, own],
      [address_bytes, own],
      ...(site === null
        ? []
        : ([
            [site_bytes, site],
            [site_address_bytes, site],
          ] as const)),
      [all_anonymous_bytes, ALL],
    ];
  }

  /** What an address without a token has sent since its day began; null: there is no limit. */
  async addressBytes(caller: string): Promise<{ readonly used: number; readonly allowed: number } | null> {
    const limit = this.#limits.address_bytes;
    if (limit === null) return null;
    const points = await this.#store.read(`${limit.name}:${caller}`);
    return { used: Math.min(points, limit.points), allowed: limit.points };
  }

  #refuseUsedUp(res: ServerResponse, limit: Limit | null, caller: string): void {
    const standing = limit?.standing(caller) ?? null;
    if (limit !== null && standing?.allowed === false) this.#record(res, limit, standing);
  }

  /**
   * @param passes whether the request goes on also when the points are used up
   * @returns what gives the points back, while their window lasts
   * @throws RequestError rate_limited
   */
  async #spend(
    res: ServerResponse,
    caller: string,
    limit: Limit | null,
    points = 1,
    passes = false,
  ): Promise<() => void> {
    if (limit === null) return () => {};
    const standing = await limit.spend(caller, points);
    this.#record(res, limit, standing, passes);
    const endsAt = standing?.allowed === true ? performance.now() + standing.resetMs : 0;
    return () => performance.now() < endsAt && limit.giveBack(caller, points);
  }

  /** @throws RequestError rate_limited */
  #record(res: ServerResponse, limit: Limit, standing: Standing | null, passes = false): void {
    const standings = this.#standings.get(res) ?? new Map<Limit, Standing | null>();
    this.#standings.set(res, standings.set(limit, standing));
    if (standing?.allowed !== false || passes) return;
    this.#setHeaders(res);
    this.#refusals.inc({ limit: limit.name });
    throw rateLimited(limit, standing);
  }

  /** Called once for all limits of a request: to write the headers takes longer than to count. */
  #setHeaders(res: ServerResponse): void {
    const standings = this.#standings.get(res);
    if (standings === undefined) return;
    for (const [name, value] of Object.entries(limitFields(standings))) res.setHeader(name, value);
  }
}
