/**
 * How often the changes that clients wait for are read. Two figures bound it: 1,000 waiting clients cost at
 * most 20 statements a second, and `Prefer: wait` answers within 50 ms of the settlement at the median
 * (docs/adr/0020-waiting-clients-are-served-by-adaptive-polling.md).
 */

/** For a paste or job that a client began to wait for, or that changed, just now. */
export const MIN_INTERVAL_MS = 20;

/**
 * The factor of an interval after each read that found no change. The interval is then 20 ms and a tenth of
 * the time without a change, and a change is seen after half of that on average: 50 ms after 0.8 s.
 */
const GROWTH = 1.1;

/** The longest interval is 80 ms with up to 160 clients, and 500 ms with 1,000 and more. */
const MAX_INTERVAL_PER_CLIENT_MS = 0.5;
const MAX_INTERVAL_MS = { min: 80, max: 500 };

/** The pause after each statement is 20 ms with up to 400 clients, 50 ms with 1,000, and 500 ms with 10,000. */
const PAUSE_PER_CLIENT_MS = 0.05;
const PAUSE_MS = { min: 20, max: 500 };

/** The interval of a paste or job after a read. `clients`: all that wait in this process. */
export function nextIntervalMs(intervalMs: number, hasChanged: boolean, clients: number): number {
  if (hasChanged) return MIN_INTERVAL_MS;
  return Math.min(intervalMs * GROWTH, clamp(clients * MAX_INTERVAL_PER_CLIENT_MS, MAX_INTERVAL_MS));
}

/** The time from the end of a statement to the start of the next. */
export function pauseMs(clients: number): number {
  return clamp(clients * PAUSE_PER_CLIENT_MS, PAUSE_MS);
}

function clamp(value: number, { min, max }: { readonly min: number; readonly max: number }): number {
  return Math.min(Math.max(value, min), max);
}
