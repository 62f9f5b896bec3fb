import { PasteflowApiError, PasteflowConnectionError } from './errors.ts';

/** How a request is tried again. All bounds hold together: the first that is reached ends it with the last error. */
export interface RetryPolicy {
  /** Tries in all, the first included; 1: nothing is tried again. */
  readonly maxTries: number;
  /** From the first byte of the first try to the end of the last one. */
  readonly maxTotalMs: number;
  /** Of one try, until its answer begins, or for JSON has arrived; sending the content is part of it. */
  readonly tryTimeoutMs: number;
  /** The wait before the second try; it doubles with each, and a random half of it is taken off. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** Waits of 0.25, 0.5, 1, 2, 4, 8 and 8 s, less up to a half: Postgres has failed over within them. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxTries: 8,
  maxTotalMs: 120_000,
  tryTimeoutMs: 60_000,
  firstDelayMs: 250,
  maxDelayMs: 8000,
};

/** Whoever answers these has not done what was asked for, or may be asked again; 500 is a defect, and stays one. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/**
 * The wait before the next try, in ms; null: that was the last one.
 * @param tries so far, from 1
 * @param random from 0 to 1: clients that failed together shall not come back together
 */
export function delayBeforeRetry(
  error: unknown,
  {
    policy,
    tries,
    elapsedMs,
    random,
  }: { policy: RetryPolicy; tries: number; elapsedMs: number; random: number },
): number | null {
  if (!isTransient(error) || (tries >= policy.maxTries && !isHeldKey(error))) return null;
  const backoff = Math.min(policy.firstDelayMs * 2 ** (tries - 1), policy.maxDelayMs);
  const told = error instanceof PasteflowApiError ? (error.retryAfter ?? 0) * 1000 : 0;
  const delay = Math.max(backoff * (1 - random / 2), told + random * policy.firstDelayMs);
  return elapsedMs + delay < policy.maxTotalMs ? delay : null;
}

function isTransient(error: unknown): boolean {
  if (error instanceof PasteflowConnectionError) return true;
  if (!(error instanceof PasteflowApiError)) return false;
  if (error.code === 'paste_in_progress') return false; // that is waited for, and not a failure
  return TRANSIENT_STATUSES.has(error.status) || isHeldKey(error);
}

/**
 * An earlier try of the same request is still running, or died with its api process: then the key is held for some 15 s more. That is no
 * failure of this try, and doesn't use it up.
 */
function isHeldKey(error: unknown): boolean {
  return error instanceof PasteflowApiError && error.code === 'idempotency_key_in_use';
}
