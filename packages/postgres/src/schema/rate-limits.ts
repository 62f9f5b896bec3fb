/** Written by rate-limiter-flexible. */
export interface RateLimitsTable {
  key: string;
  points: number;
  /** Unix milliseconds, as text. */
  expire: string | null;
}
