import { PasteflowConnectionError } from './errors.ts';
import { delayBeforeRetry, type RetryPolicy } from './retry-policy.ts';
import { sleep, withTimeout } from './timing.ts';

export interface RetryContext {
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal | undefined;
  /** False when what is to be sent can't be sent once more. */
  readonly isRepeatable: () => boolean;
}

/** Tries something until it works, may not be tried again, or a bound is reached: then rejects with the last error. */
export async function withRetries<T>(
  { policy, signal, isRepeatable }: RetryContext,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  const elapsed = (): number => performance.now() - begun;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    const ms = Math.min(policy.tryTimeoutMs, policy.maxTotalMs - elapsed());
    const reason = (): Error => new PasteflowConnectionError(`no answer within ${Math.round(ms)} ms`);
    try {
      return await withTimeout({ ms, reason, outer: signal }, attempt);
    } catch (error) {
      signal?.throwIfAborted(); // the reason itself, whatever fetch made of it
      const now = { policy, tries, elapsedMs: elapsed(), random: Math.random() };
      const delay = isRepeatable() ? delayBeforeRetry(error, now) : null;
      if (delay === null) throw error;
      await sleep(delay, signal);
    }
  }
}
