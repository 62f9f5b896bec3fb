import { PasteflowApiError, PasteflowConnectionError } from './errors.ts';
import { sleep, withTimeout } from './waiting.ts';

/** How a request is retried. The first bound that is reached ends it with the last error. */
export interface RetryPolicy {
  /** Number of tries, including the first; 1: no retries. */
  readonly maxTries: number;
  /** From the start of the first try to the end of the last one. */
  readonly maxTotalMs: number;
  /** Of one try, sending included: until the response starts or, for JSON, until it has arrived. */
  readonly tryTimeoutMs: number;
  /** Before the second try. It doubles with each try, and is reduced by up to a random half. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

/** Waits of 0.25, 0.5, 1, 2, 4, 8 and 8 s, reduced by up to a half: long enough for Postgres to fail over. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxTries: 8,
  maxTotalMs: 120_000,
  tryTimeoutMs: 60_000,
  firstDelayMs: 250,
  maxDelayMs: 8000,
};

/**
 * A server that answers with one of these did not execute the request, or allows a retry. 500 is a defect,
 * which a retry doesn't fix.
 */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/**
 * The wait before the next try, in ms; null: no further try.
 * @param tries number of tries so far, from 1
 * @param random from 0 to 1: spreads the retries of clients that failed at the same time
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
  const retryAfterMs = error instanceof PasteflowApiError ? (error.retryAfter ?? 0) * 1000 : 0;
  const delay = Math.max(backoff * (1 - random / 2), retryAfterMs + random * policy.firstDelayMs);
  return elapsedMs + delay < policy.maxTotalMs ? delay : null;
}

function isTransient(error: unknown): boolean {
  if (error instanceof PasteflowConnectionError) return true;
  if (!(error instanceof PasteflowApiError)) return false;
  if (error.code === 'paste_in_progress') return false; // the upload is in progress: the caller waits, this is no failure
  if (error.code === 'quota_exceeded' || error.code === 'webhook_limit_reached') return false; // time gives nothing back
  return TRANSIENT_STATUSES.has(error.status) || isHeldKey(error);
}

/**
 * An earlier try of the same request is still running, or its api process died; in that case the key stays
 * claimed for up to 15 s. This doesn't count as a failed try.
 */
function isHeldKey(error: unknown): boolean {
  return error instanceof PasteflowApiError && error.code === 'idempotency_key_in_use';
}

/** Called with the error of a try before the wait for the next one. @param tries number of tries so far */
export type OnRetry = (error: PasteflowApiError | PasteflowConnectionError, tries: number) => void;

export interface RetryContext {
  readonly policy: RetryPolicy;
  readonly onRetry: OnRetry | undefined;
  readonly signal: AbortSignal | undefined;
  /** False when the content can't be sent again. */
  readonly isRepeatable: () => boolean;
}

/** Retries `attempt` until it succeeds, may not be retried, or a bound is reached. */
export async function withRetries<T>(
  { policy, onRetry, signal, isRepeatable }: RetryContext,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    const ms = Math.min(policy.tryTimeoutMs, policy.maxTotalMs - elapsed());
    const reason = (): Error => new PasteflowConnectionError(`no answer within ${Math.round(ms)} ms`);
    try {
      return await withTimeout({ ms, reason, outer: signal }, attempt);
    } catch (error) {
      signal?.throwIfAborted(); // the reason itself, not the error that fetch made of it
      const now = { policy, tries, elapsedMs: elapsed(), random: Math.random() };
      const delay = isRepeatable() ? delayBeforeRetry(error, now) : null;
      if (delay === null) throw error;
      onRetry?.(error as Parameters<OnRetry>[0], tries);
      await sleep(delay, signal);
    }
  }
}
