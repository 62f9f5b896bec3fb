import type { ServerResponse } from 'node:http';
import type { RateLimitStore } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { RequestError } from '../http/errors/request-error.ts';
import { limitFields, secondsUntilReset } from './limit-fields.ts';
import { Limit, type Standing } from './limit.ts';

/** Points per minute for each caller; 0: no limit. */
export interface LimitsConfig {
  readonly requests: number;
  /** POSTs, whatever they create. */
  readonly creations: number;
  /** Guesses: requests for pastes that don't exist, and invalid tokens. */
  readonly misses: number;
}

export interface LimitsOptions {
  readonly perMinute: LimitsConfig;
  readonly store: RateLimitStore;
  readonly logger: Logger;
}

/** The limits that a request counts against. */
export interface RequestKind {
  readonly creates: boolean;
  /** Whether it may be a guess at a short code. */
  readonly mayMiss: boolean;
}

/** A failing Postgres is logged at most this often, instead of with every request. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * The limits of each caller (limitKeyOf), and the RateLimit headers of the answers. While Postgres is
 * unavailable no request is refused by a limit: requests that need Postgres fail anyway, and the others
 * should go on.
 */
export class Limits {
  readonly #requests: Limit | null;
  readonly #creations: Limit | null;
  readonly #misses: Limit | null;
  readonly #standings = new WeakMap<ServerResponse, Map<Limit, Standing | null>>();

  constructor({ perMinute, store, logger }: LimitsOptions) {
    let warnAfter = 0;
    const onError = (error: unknown): void => {
      if (Date.now() < warnAfter) return;
      warnAfter = Date.now() + WARNING_INTERVAL_MS;
      logger.warn('rate limits suspended; Postgres is unavailable', { error });
    };
    const limit = (name: keyof LimitsConfig): Limit | null =>
      perMinute[name] === 0 ? null : new Limit({ name, points: perMinute[name], store, onError });
    this.#requests = limit('requests');
    this.#creations = limit('creations');
    this.#misses = limit('misses');
  }

  /** Counts a request, before anything is looked up for it. @throws RequestError rate_limited */
  async count(res: ServerResponse, caller: string, { creates, mayMiss }: RequestKind): Promise<void> {
    if (mayMiss && this.#misses !== null) this.#record(res, this.#misses, this.#misses.standing(caller));
    await this.#spend(res, caller, this.#requests);
    if (creates) await this.#spend(res, caller, this.#creations);
    this.#setHeaders(res);
  }

  /**
   * Counts a failed guess. When a caller's misses reach the limit, this process refuses the caller's reads
   * until the window ends. Another process learns of it at the next miss there, so a guesser gains one read
   * for each process, and the reads that were running.
   * @throws RequestError rate_limited
   */
  async countMiss(res: ServerResponse, caller: string): Promise<void> {
    await this.#spend(res, caller, this.#misses);
    this.#setHeaders(res);
  }

  /**
   * Costs no statement.
   * @throws RequestError rate_limited for a caller with too many misses, as far as this process knows
   */
  refuseGuesser(res: ServerResponse, caller: string): void {
    const standing = this.#misses?.standing(caller);
    if (this.#misses !== null && standing?.allowed === false) this.#record(res, this.#misses, standing);
  }

  /**
   * Costs no statement, and counts nothing.
   * @throws RequestError rate_limited for a caller who has used up the requests, as far as this process knows
   */
  refuseWithoutRequests(res: ServerResponse, caller: string): void {
    const standing = this.#requests?.standing(caller);
    if (this.#requests !== null && standing?.allowed === false) this.#record(res, this.#requests, standing);
  }

  async #spend(res: ServerResponse, caller: string, limit: Limit | null): Promise<void> {
    if (limit !== null) this.#record(res, limit, await limit.spend(caller));
  }

  /** @throws RequestError rate_limited when the standing does not allow the request */
  #record(res: ServerResponse, limit: Limit, standing: Standing | null): void {
    const standings = this.#standings.get(res) ?? new Map<Limit, Standing | null>();
    this.#standings.set(res, standings.set(limit, standing));
    if (standing?.allowed !== false) return;
    this.#setHeaders(res);
    throw rateLimited(limit, standing);
  }

  /** Called once after a request was counted, not for each of its limits: to write the headers takes longer than to count. */
  #setHeaders(res: ServerResponse): void {
    const standings = this.#standings.get(res);
    if (standings === undefined) return;
    for (const [name, value] of Object.entries(limitFields(standings))) res.setHeader(name, value);
  }
}

function rateLimited({ name, points }: Limit, standing: Standing): RequestError {
  const seconds = secondsUntilReset(standing);
  const detail = `The limit of ${points} ${name} per minute is used up. Try again in ${seconds} s.`;
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
}
