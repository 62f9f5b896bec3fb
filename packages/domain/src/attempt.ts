import { maxAttempts, retryDelayMs, type RetryPolicy } from './retry.ts';

/** How one attempt at a piece of work ended, as whoever ran it saw it. */
export type AttemptOutcome =
  | { readonly kind: 'succeeded' }
  /** The work itself failed: an attempt is spent and the next one waits. */
  | { readonly kind: 'failed'; readonly error: string }
  /** The process that ran it died: an attempt is spent (the work may be what killed it), but nothing needs a rest: it is due at once. */
  | { readonly kind: 'lost'; readonly error: string }
  /** Something else than the work kept it from being tried: no attempt is spent, and it is looked at again a little later. */
  | { readonly kind: 'postponed'; readonly error: string }
  /** The process was told to stop: no attempt is spent. */
  | { readonly kind: 'interrupted' };

/** What follows an ended attempt: nothing more to do, another attempt, or the end of all attempts. */
export type AttemptSequel =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly attempt: number; readonly delayMs: number }
  | { readonly kind: 'give_up'; readonly reason: string };

/** How long a postponed attempt waits, in ms: without a wait it would go round as fast as the machine can. */
const POSTPONED_MS = 1000;

export const INTERRUPTED = 'interrupted';
export const WORKER_LOST = 'worker lost';

/** What the retry policy makes of an outcome. `random` is uniform in [0, 1). */
export function sequelOf(
  outcome: AttemptOutcome,
  attempt: number,
  policy: RetryPolicy,
  random: number,
): AttemptSequel {
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
