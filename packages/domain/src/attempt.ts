import { maxAttempts, retryDelayMs, type RetryPolicy } from './retry.ts';

/** How one attempt at a piece of work ended, as seen by the process that reports the end. */
export type AttemptOutcome =
  | { readonly kind: 'succeeded' }
  /** The work itself failed. The attempt is spent, and the next one waits. */
  | { readonly kind: 'failed'; readonly error: string }
  /**
   * The process that ran the attempt died. The attempt is spent, because the work may have killed the process. The next attempt is due at
   * once, because nothing that failed needs time to recover.
   */
  | { readonly kind: 'lost'; readonly error: string }
  /** Something other than the work prevented the attempt. No attempt is spent; the next one is due after `POSTPONED_MS`. */
  | { readonly kind: 'postponed'; readonly error: string }
  /** The process is stopping. No attempt is spent. */
  | { readonly kind: 'interrupted' };

/** What follows an ended attempt: nothing, another attempt, or the end of all attempts. */
export type NextStep =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly attempt: number; readonly delayMs: number }
  | { readonly kind: 'give_up'; readonly reason: string };

/** The wait after a postponed attempt, in ms. Without a wait, the message would cycle as fast as the machine allows. */
const POSTPONED_MS = 1000;

export const INTERRUPTED = 'interrupted';
export const WORKER_LOST = 'worker lost';

/** Applies the retry policy to an outcome. `attempt` counts from 1; `random` is uniform in [0, 1). */
export function decideNextStep(
  outcome: AttemptOutcome,
  attempt: number,
  policy: RetryPolicy,
  random: number,
): NextStep {
  switch (outcome.kind) {
    case 'succeeded':
      return { kind: 'done' };
    case 'interrupted':
      return { kind: 'retry', attempt, delayMs: 0 };
    case 'postponed':
      return { kind: 'retry', attempt, delayMs: POSTPONED_MS };
    case 'lost':
    case 'failed': {
      const delayMs = retryDelayMs(policy, attempt, random);
      if (delayMs === null) return { kind: 'give_up', reason: giveUpReason(outcome.error, policy) };
      return { kind: 'retry', attempt: attempt + 1, delayMs: outcome.kind === 'lost' ? 0 : delayMs };
    }
    default:
      return outcome satisfies never;
  }
}

function giveUpReason(error: string, policy: RetryPolicy): string {
  return `${maxAttempts(policy)} attempts failed; the last: ${error}`;
}
