export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
  /** Each wait is moved by a uniformly random part of it, in ±jitter: 0.2 is ±20 %. */
  readonly jitter: number;
}

/**
 * For loops that can't reach what they work on: 0.5, 1, 2, 4, 8, 16, 30, 30 … s, each ±20 %. Doubling leaves a restarting
 * server room to come up; the cap keeps recovery within half a minute; the jitter keeps processes from coming back together.
 */
export const defaultBackoff: Backoff = { firstMs: 500, capMs: 30_000, jitter: 0.2 };

/** The wait in whole milliseconds after `failures` (from 1) in a row. `random` is uniform in [0, 1). Jitter comes after the cap. */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  const base = Math.min(backoff.capMs, backoff.firstMs * 2 ** (failures - 1));
  return Math.round(base * (1 + (random * 2 - 1) * backoff.jitter));
}
