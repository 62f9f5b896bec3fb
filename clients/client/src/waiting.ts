import { PasteflowTimeoutError } from './errors.ts';
import { sleep, withTimeout } from './timing.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Maximum wait; then PasteflowTimeoutError. */
  readonly timeoutMs?: number | undefined;
}

/** The result of one poll. */
export type PollResult<T> =
  | { readonly settled: T }
  /** `notBeforeMs`: the server asked not to be polled earlier. */
  | { readonly pending: string; readonly notBeforeMs?: number };

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 3000;

/**
 * The interval between the starts of two polls is a quarter of the time waited so far, from 50 ms to 3 s: the
 * end of an upload of 100 ms is seen within 50 ms, and a job of minutes costs one request every 3 s. When the
 * server itself waits, the poll takes longer than the interval, and the next one follows at once.
 */
export function delayBeforePoll(elapsedMs: number, pollMs: number): number {
  return Math.max(0, Math.min(Math.max(elapsedMs / 4, FIRST_DELAY_MS), MAX_DELAY_MS) - pollMs);
}

/** Proxies commonly end a request that takes longer than 30 s. */
const MAX_PREFERRED_SECONDS = 20;

/**
 * The header that asks the server to wait for the end, for at most half of a try's timeout. Empty for tries
 * of less than 2 s.
 */
export function preferWait({ tryTimeoutMs }: { tryTimeoutMs: number }): { Prefer?: string } {
  const seconds = Math.min(Math.floor(tryTimeoutMs / 2000), MAX_PREFERRED_SECONDS);
  return seconds === 0 ? {} : { Prefer: `wait=${seconds}` };
}

/**
 * Polls until the result is settled.
 * @param what names the paste or job in the message of PasteflowTimeoutError: `paste q7Zk2Lm9Xa`
 */
export async function waitUntilSettled<T>(
  what: string,
  { signal: outer, timeoutMs = Infinity }: WaitOptions,
  poll: (signal: AbortSignal) => Promise<PollResult<T>>,
): Promise<T> {
  const startedAt = performance.now();
  let state = 'unknown';
  const reason = (): Error => new PasteflowTimeoutError(`${what} is ${state} after ${timeoutMs} ms`);
  return await withTimeout({ ms: timeoutMs, reason, outer }, async (signal) => {
    for (;;) {
      const pollStartedAt = performance.now();
      const found = await poll(signal);
      if ('settled' in found) return found.settled;
      state = found.pending;
      const now = performance.now();
      const delay = delayBeforePoll(now - startedAt, now - pollStartedAt);
      await sleep(Math.max(delay, found.notBeforeMs ?? 0), signal);
    }
  });
}
