import { PasteflowTimeoutError } from './errors.ts';

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

/** The maximum of setTimeout, which fires at once for more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Rejects with the signal's reason as soon as it fires. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(ms, MAX_TIMEOUT_MS),
    );
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Calls `run` with a signal that fires after `ms`, with `reason()`, or together with `outer`, whichever is
 * first. After `run` has ended, only `outer` fires the signal: the body of a response may be read without a
 * time limit.
 */
export async function withTimeout<T>(
  { ms, reason, outer }: { ms: number; reason: () => Error; outer: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(reason()), Math.min(ms, MAX_TIMEOUT_MS));
  try {
    return await run(outer === undefined ? timeout.signal : AbortSignal.any([outer, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}

export interface CallOptions {
  /** Ends the call; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** `timeoutMs` limits the wait. */
export interface CreateOptions extends WaitOptions {
  /** Resolve when the work has ended; default: as soon as it is accepted. */
  readonly wait?: boolean | undefined;
  /** Requests of one caller with the same key are executed once. Default: a new key. */
  readonly idempotencyKey?: string | undefined;
}

/** 128 bits from the CSPRNG. Not randomUUID(), which browsers provide on secure origins only. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
