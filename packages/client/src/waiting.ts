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

/** A quarter of the time waited so far: an upload of 100 ms is seen within 50, and a job of minutes costs a request in 3 s. */
export function delayBeforeLook(elapsedMs: number): number {
  return Math.min(Math.max(elapsedMs / 4, FIRST_DELAY_MS), MAX_DELAY_MS);
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
      const found = await look(signal);
      if ('settled' in found) return found.settled;
      state = found.pending;
      const delay = delayBeforeLook(performance.now() - begun);
      await sleep(Math.max(delay, found.notBeforeMs ?? 0), signal);
    }
  });
}
