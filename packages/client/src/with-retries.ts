import { PasteflowConnectionError } from './errors.ts';
import { delayBeforeRetry, type RetryPolicy } from './retry-policy.ts';
import { sleep, withTimeout } from './timing.ts';

export interface RetryContext {
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal | undefined;
  /** False when the content can't be sent again. */
  readonly isRepeatable: () => boolean;
}

/** Retries `attempt` until it succeeds. Rejects with the last error when a retry is not allowed or a bound is reached. */
export async function withRetries<T>(
  { policy, signal, isRepeatable }: RetryContext,
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
      await sleep(delay, signal);
    }
  }
}
