/** The waits between attempts. `delaysMs[n-1]` is the wait after the failure of attempt n; there is one attempt more than delays. */
export interface RetryPolicy {
  readonly delaysMs: readonly number[];
  /** Each wait is changed by a uniformly random amount within ±jitterMs. */
  readonly jitterMs: number;
}

/**
 * R3: at once, then after 1, 2, 4, 8 and 16 s, each ±200 ms: six attempts in about 31 s. The doubling gives an overloaded S3 time to
 * recover. The jitter spreads the retries of pastes that failed at the same moment.
 */
export const defaultRetryPolicy: RetryPolicy = { delaysMs: [1000, 2000, 4000, 8000, 16_000], jitterMs: 200 };

export function maxAttempts(policy: RetryPolicy): number {
  return policy.delaysMs.length + 1;
}

/**
 * @param attempt the attempt that has just failed, from 1
 * @param random uniform in [0, 1)
 * @returns the wait before the next attempt, in whole milliseconds, never negative; null: `attempt` was the last
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: number): number | null {
  const base = policy.delaysMs[attempt - 1];
  if (base === undefined) return null;
  return Math.max(0, Math.round(base + (random * 2 - 1) * policy.jitterMs));
}
