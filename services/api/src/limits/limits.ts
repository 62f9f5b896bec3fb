import type { ServerResponse } from 'node:http';
import type { RateLimitStore } from '@pasteflow/postgres';
import type { Logger, Metrics } from '@pasteflow/runtime';
import { RequestError } from '../http/errors/request-error.ts';
import { callerKeyOf, type Caller } from '../http/request/caller.ts';
import { Limit, type Standing } from './limit.ts';

/** Points for each caller, in each minute unless they say otherwise; 0: no limit. */
interface LimitsConfig {
  readonly requests: number;
  /** POSTs, whatever they create. */
  readonly creations: number;
  /** Guesses: requests for pastes that don't exist, and invalid tokens. */
  readonly misses: number;
  /** Bytes of new pastes in an hour, imports included. All tokens of a user count as one caller. */
  readonly bytes: number;
  /** Bytes of new pastes in an hour, of all callers without a token together; small pastes pass beyond it. */
  readonly anonymous_bytes: number;
  /** Bytes of new pastes in a day, of each address without a token. */
  readonly address_bytes: number;
  /** Reports of pastes in an hour, from each address. */
  readonly reports: number;
}

export interface LimitsOptions {
  readonly limits: LimitsConfig;
  readonly store: RateLimitStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

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

/** Pastes up to this size are never refused for what others without a token have sent. */
const SMALL_PASTE_BYTES = 64 * 1024;

/** A failing Postgres is logged at most this often, instead of with every request. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * The limits of each caller (limitKeyOf), and the RateLimit headers of the answers. While Postgres is
 * unavailable no limit refuses a request: those that need Postgres fail anyway, and the others should go on.
 */
export class Limits {
  /** Null: no limit. */
  readonly #limits: Readonly<Record<keyof LimitsConfig, Limit | null>>;
  readonly #refusals;
  readonly #store: RateLimitStore;
  readonly #standings = new WeakMap<ServerResponse, Map<Limit, Standing | null>>();

  constructor({ limits, store, logger, metrics }: LimitsOptions) {
    let warnAfter = 0;
    const onError = (error: unknown): void => {
      if (performance.now() < warnAfter) return;
      warnAfter = performance.now() + WARNING_INTERVAL_MS;
      logger.warn('rate limits suspended; Postgres is unavailable', { error });
    };
    const limit = (name: keyof LimitsConfig, windowSeconds: number, exact = false): Limit | null =>
      limits[name] === 0
        ? null
        : new Limit({ name, points: limits[name], windowSeconds, exact, store, onError });
    this.#store = store;
    this.#limits = {
      requests: limit('requests', MINUTE),
      creations: limit('creations', MINUTE),
      misses: limit('misses', MINUTE),
      bytes: limit('bytes', HOUR),
      anonymous_bytes: limit('anonymous_bytes', HOUR),
      address_bytes: limit('address_bytes', DAY, true),
      reports: limit('reports', HOUR),
    };
    this.#refusals = metrics.counter({
      name: 'rate_limited_total',
      help: 'Requests that were answered 429 because a rate limit was used up, by the limit.',
      labels: ['limit'],
    });
    for (const name of Object.keys(limits)) this.#refusals.inc({ limit: name }, 0);
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
   * @throws RequestError rate_limited
   */
  async countMiss(res: ServerResponse, caller: string): Promise<void> {
    await this.#spend(res, caller, this.#limits.misses);
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
  refuseUsedUp(res: ServerResponse, name: 'requests' | 'misses' | 'bytes', caller: string): void {
    const limit = this.#limits[name];
    const standing = limit?.standing(caller) ?? null;
    if (limit !== null && standing?.allowed === false) this.#record(res, limit, standing);
  }

  /**
   * Counts the bytes of a new paste and creates it. A paste that is not created costs no bytes, and one
   * that its caller's own limit refuses costs the others none.
   * @throws RequestError rate_limited, and what `create` throws
   */
  async countBytes<Created>(
    res: ServerResponse,
    caller: Caller,
    bytes: number,
    create: () => Promise<Created>,
  ): Promise<Created> {
    const spent = [await this.#spend(res, callerKeyOf(caller), this.#limits.bytes, bytes)];
    try {
      if (caller.kind === 'anonymous') {
        spent.push(await this.#spend(res, callerKeyOf(caller), this.#limits.address_bytes, bytes));
        const passes = bytes <= SMALL_PASTE_BYTES;
        spent.push(await this.#spend(res, ALL, this.#limits.anonymous_bytes, bytes, passes));
      }
      this.#setHeaders(res);
      return await create();
    } catch (error) {
      for (const giveBack of spent) giveBack();
      throw error;
    }
  }

  /** What an address without a token has sent since its day began; null: there is no limit. */
  async addressBytes(caller: string): Promise<{ readonly used: number; readonly allowed: number } | null> {
    const limit = this.#limits.address_bytes;
    if (limit === null) return null;
    const points = await this.#store.read(`${limit.name}:${caller}`);
    return { used: Math.min(points, limit.points), allowed: limit.points };
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

const unitsOf: Readonly<Record<string, string>> = {
  anonymous_bytes: 'bytes of all pastes without a token',
  address_bytes: 'bytes of pastes without a token',
};

function rateLimited({ name, points, windowSeconds }: Limit, standing: Standing): RequestError {
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
function limitFields(standings: ReadonlyMap<Limit, Standing | null>): Readonly<Record<string, string>> {
  const policies = [...standings.keys()].map(
    ({ name, points, windowSeconds }) => `"${name}";q=${points};w=${windowSeconds}`,
  );
  const items = [...standings].flatMap(([{ name }, standing]) =>
    standing === null ? [] : [`"${name}";r=${standing.remaining};t=${secondsUntilReset(standing)}`],
  );
  return {
    ...(policies.length > 0 && { 'RateLimit-Policy': policies.join(', ') }),
    ...(items.length > 0 && { RateLimit: items.join(', ') }),
  };
}
