/**
 * The waits between attempts. `delaysMs[n-1]` is the wait after the failure of attempt n; there is one
 * attempt more than delays.
 */
export interface RetryPolicy {
  readonly delaysMs: readonly number[];
  /** Each wait is changed by a uniformly random amount within ±jitterMs. */
  readonly jitterMs: number;
  /** And by a uniformly random amount within ± this share of the wait. Default: 0. */
  readonly jitterShare?: number;
  /** The work is given up after this many losses (see `lossDelayMs`). Default: never. */
  readonly maxLosses?: number;
}

/**
 * At once, then after 1, 2, 4, 8 and 16 s, each ±200 ms: six attempts in about 31 s. The doubling gives an
 * overloaded S3 time to recover. The jitter spreads the retries of pastes that failed at the same moment.
 */
export const defaultRetryPolicy: RetryPolicy = { delaysMs: [1000, 2000, 4000, 8000, 16_000], jitterMs: 200 };

/**
 * Work that was lost more often than this is reported to the operator. The partial index
 * `task_executions_lost` has the same number.
 */
export const MAX_UNREPORTED_LOSSES = 3;

/**
 * A job always reaches an end, also when it crashes each worker that runs it. An upload has no such limit.
 */
export const MAX_JOB_LOSSES = 6;

/** A job always reaches an end, also where workers live too short for the next thing that it makes. */
export const MAX_STOPS = 10;

export function maxAttempts(policy: RetryPolicy): number {
  return policy.delaysMs.length + 1;
}

/**
 * @param attempt the attempt that has just failed, from 1
 * @param random uniform in [0, 1)
 * @returns the wait before the next attempt, in whole milliseconds, never negative; null: `attempt` was the
 * last
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: number): number | null {
  const base = policy.delaysMs[attempt - 1];
  if (base === undefined) return null;
  return Math.max(0, Math.round(base + (random * 2 - 1) * jitterOf(policy, base)));
}

function jitterOf({ jitterMs, jitterShare = 0 }: RetryPolicy, delayMs: number): number {
  return jitterMs + delayMs * jitterShare;
}

const FIRST_LOSS_DELAY_MS = 1000;
const MAX_LOSS_DELAY_MS = 60_000;

/**
 * The wait after a loss: 1, 2, 4, 8, 16, 32, and then always 60 s. With a lease of 6 s and a reaper that runs
 * every 2 s, the first wait still lets the work of a crashed worker run elsewhere within 10 s. The later
 * waits keep content that crashes its worker from crashing one worker after the other.
 * @param losses the losses of the work so far, the one that has just happened included, from 1
 * @returns milliseconds
 */
export function lossDelayMs(losses: number): number {
  return Math.min(MAX_LOSS_DELAY_MS, FIRST_LOSS_DELAY_MS * 2 ** (losses - 1));
}

/** The longest wait before an attempt, after whatever outcome, in milliseconds. */
export function longestDelayMs(policy: RetryPolicy): number {
  return Math.max(
    MAX_LOSS_DELAY_MS,
    ...policy.delaysMs.map((delayMs) => delayMs + jitterOf(policy, delayMs)),
  );
}

/**
 * The time that a claim is valid without a heartbeat, in seconds. Another worker takes over after that,
 * within 10 s.
 */
export const DEFAULT_LEASE_SECONDS = 6;

/**
 * A lease survives two missed heartbeats: a lease of 6 s is renewed every 2 s. Most puts end before the first
 * renewal.
 */
export function heartbeatIntervalMs(leaseSeconds: number): number {
  return Math.round((leaseSeconds * 1000) / 3);
}

/**
 * The visibility timeout of a received message, in seconds. It is longer than the lease: when the message
 * becomes visible again, another worker can already take over its execution. The heartbeat of a live worker
 * extends both, so its messages stay hidden.
 */
export function messageVisibilitySeconds(leaseSeconds: number): number {
  return Math.ceil(leaseSeconds) + 4;
}
