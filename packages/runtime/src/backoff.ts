import { setTimeout as wait } from 'node:timers/promises';

export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
  /** The maximum random change of a wait, as a share of the wait: 0.2 is ±20 %. */
  readonly jitter: number;
}

/**
 * For loops that cannot reach a dependency: 0.5, 1, 2, 4, 8, 16, 30, 30 … s, each ±20 %. Doubling gives a
 * restarting server time to start, the cap keeps recovery within half a minute, and the jitter keeps
 * processes from reconnecting at the same moment.
 */
export const defaultBackoff: Backoff = { firstMs: 500, capMs: 30_000, jitter: 0.2 };

/**
 * The wait in whole milliseconds after `failures` consecutive failures (from 1). `random` is uniform in [0,
 * 1). Jitter is applied after the cap.
 */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  const base = Math.min(backoff.capMs, backoff.firstMs * 2 ** (failures - 1));
  return Math.round(base * (1 + (random * 2 - 1) * backoff.jitter));
}

/** Resolves after `ms` milliseconds, or when the signal is aborted. Never rejects. Tests pass their own. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const sleep: Sleep = async (ms, signal) => {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
