import type { ServerResponse } from 'node:http';
import type { RateLimitStore } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { RequestError } from '../http/errors/request-error.ts';
import { limitFields, secondsUntilReset } from './limit-fields.ts';
import { Limit, type Standing } from './limit.ts';

/** Points a minute for each caller; 0: no limit. */
export interface LimitsConfig {
  readonly requests: number;
  /** POSTs, whatever they make. */
  readonly creations: number;
  /** Requests for pastes that there aren't, and tokens that aren't good: guesses. */
  readonly misses: number;
}

export interface LimitsOptions {
  readonly perMinute: LimitsConfig;
  readonly store: RateLimitStore;
  readonly logger: Logger;
}

/** What a request may come to. */
export interface RequestKind {
  readonly creates: boolean;
  /** Whether it may be a guess at a short code. */
  readonly mayMiss: boolean;
}

/** A failing Postgres makes a line in the log this often, not one a request. */
const WARNING_INTERVAL_MS = 60_000;

/**
 * The limits, by caller (limitedAs), and the RateLimit fields of the answers. With Postgres away nobody is refused by them: whatever needs
 * Postgres fails by itself, and the rest should go on.
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
      logger.warn('rate limits are not kept for now', { error });
    };
    const limit = (name: keyof LimitsConfig): Limit | null =>
      perMinute[name] === 0 ? null : new Limit({ name, points: perMinute[name], store, onError });
    this.#requests = limit('requests');
    this.#creations = limit('creations');
    this.#misses = limit('misses');
  }

  /** Counts a request of this caller. @throws RequestError rate_limited, before anything is looked up for it */
  async count(res: ServerResponse, caller: string, { creates, mayMiss }: RequestKind): Promise<void> {
    if (mayMiss && this.#misses !== null) this.#note(res, this.#misses, this.#misses.standing(caller));
    await this.#spend(res, caller, this.#requests);
    if (creates) await this.#spend(res, caller, this.#creations);
  }

  /**
   * Counts a guess that failed. So of a caller's guesses in a window as many are answered as the limit says; then this process lets none of
   * its reads through until the window ends. Another process finds out by the next miss there: what a guesser gains is one look for
   * each process, and those that were under way.
   * @throws RequestError rate_limited
   */
  async countMiss(res: ServerResponse, caller: string): Promise<void> {
    await this.#spend(res, caller, this.#misses);
  }

  /** @throws RequestError rate_limited for who has guessed wrong too often, as far as this process knows: it costs no statement */
  refuseGuesser(res: ServerResponse, caller: string): void {
    const standing = this.#misses?.standing(caller);
    if (this.#misses !== null && standing?.allowed === false) this.#note(res, this.#misses, standing);
  }

  async #spend(res: ServerResponse, caller: string, limit: Limit | null): Promise<void> {
    if (limit !== null) this.#note(res, limit, await limit.spend(caller));
  }

  #note(res: ServerResponse, limit: Limit, standing: Standing | null): void {
    const standings = this.#standings.get(res) ?? new Map<Limit, Standing | null>();
    this.#standings.set(res, standings.set(limit, standing));
    for (const [name, value] of Object.entries(limitFields(standings))) res.setHeader(name, value);
    if (standing?.allowed === false) throw rateLimited(limit, standing);
  }
}

function rateLimited({ name, points }: Limit, standing: Standing): RequestError {
  const seconds = secondsUntilReset(standing);
  const detail = `More than ${points} ${name} in a minute; try again in ${seconds} s.`;
  return new RequestError('rate_limited', detail, { headers: { 'Retry-After': String(seconds) } });
}
