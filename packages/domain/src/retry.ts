/** Waits between attempts. `delaysMs[n-1]` is the wait after the failure of attempt n; there is one attempt more than delays. */
export interface RetryPolicy {
  readonly delaysMs: readonly number[];
  /** Each wait is moved by a uniformly random amount in ±jitterMs. */
  readonly jitterMs: number;
}

/**
 * R3: at once, then after 1, 2, 4, 8 and 16 s, each ±200 ms: six attempts in about 31 s. Doubling gives an overloaded S3 room;
 * the jitter keeps pastes that failed together from coming back together.
 */
export const defaultRetryPolicy: RetryPolicy = { delaysMs: [1000, 2000, 4000, 8000, 16_000], jitterMs: 200 };

export function maxAttempts(policy: RetryPolicy): number {
  return policy.delaysMs.length + 1;
}

/**
 * The wait in whole milliseconds before the attempt that follows `attempt` (from 1), or null when `attempt` was the last.
 * `random` is uniform in [0, 1): the caller throws the dice. Never negative.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: number): number | null {
  const base = policy.delaysMs[attempt - 1];
  if (base === undefined) return null;
  return Math.max(0, Math.round(base + (random * 2 - 1) * policy.jitterMs));
}
