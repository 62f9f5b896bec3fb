import { PasteflowTimeoutError } from './errors.ts';
import { sleep, withTimeout } from './timing.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait: then PasteflowTimeoutError. */
  readonly timeoutMs?: number | undefined;
}

/** What a look at something found. */
export type Look<T> =
  | { readonly settled: T }
  /** `notBeforeMs`: the server has said when to look again. */
  | { readonly pending: string; readonly notBeforeMs?: number };

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 3000;

/**
 * From the beginning of a look a quarter of the time waited so far: an upload of 100 ms is seen within 50, and a job of minutes costs a request
 * in 3 s. A look at a server that waits itself takes as long as that, and the next one follows at once.
 */
export function delayBeforeLook(elapsedMs: number, lookMs: number): number {
  return Math.max(0, Math.min(Math.max(elapsedMs / 4, FIRST_DELAY_MS), MAX_DELAY_MS) - lookMs);
}

/** Proxies on the way commonly cut a request that takes longer than 30 s. */
const MAX_ASKED_SECONDS = 20;

/** What asks the server to answer when it is settled, or after half of the time that a try has; none for tries of less than 2 s. */
export function preferWait({ tryTimeoutMs }: { tryTimeoutMs: number }): { Prefer?: string } {
  const seconds = Math.min(Math.floor(tryTimeoutMs / 2000), MAX_ASKED_SECONDS);
  return seconds === 0 ? {} : { Prefer: `wait=${seconds}` };
}

/**
 * Looks again and again until it is settled. All waiting of this client is here.
 * @param what for the message of PasteflowTimeoutError: `paste q7Zk2Lm9Xa`
 */
export async function waitUntilSettled<T>(
  what: string,
  { signal: outer, timeoutMs = Infinity }: WaitOptions,
  look: (signal: AbortSignal) => Promise<Look<T>>,
): Promise<T> {
  const begun = performance.now();
  let state = 'unknown';
  const reason = (): Error => new PasteflowTimeoutError(`${what} is ${state} after ${timeoutMs} ms`);
  return await withTimeout({ ms: timeoutMs, reason, outer }, async (signal) => {
    for (;;) {
      const looked = performance.now();
      const found = await look(signal);
      if ('settled' in found) return found.settled;
      state = found.pending;
      const now = performance.now();
      const delay = delayBeforeLook(now - begun, now - looked);
      await sleep(Math.max(delay, found.notBeforeMs ?? 0), signal);
    }
  });
}
