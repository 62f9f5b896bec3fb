/** Written by rate-limiter-flexible. */
export interface RateLimitsTable {
  key: string;
  /** A bigint, which pg returns as text. */
  points: string;
  /** Unix milliseconds, as text. */
  expire: string | null;
}
