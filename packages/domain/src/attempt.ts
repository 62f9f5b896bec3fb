import { parseReason, storedReason, wordsOf } from './reason.ts';
import { lossDelayMs, MAX_STOPS, maxAttempts, retryDelayMs, type RetryPolicy } from './retry.ts';

/**
 * How one attempt at a piece of work ended, as seen by the process that reports the end. `error` is a stored
 * reason (`storedReason`), and `cause` what was thrown, for the log.
 */
export type AttemptOutcome =
  | { readonly kind: 'succeeded' }
  /**
   * The work itself failed. The attempt is spent, and the next one waits, for `notBeforeMs` at least. `isFinal`:
   * no further attempt can succeed.
   */
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly cause?: unknown;
      readonly isFinal?: boolean;
      readonly notBeforeMs?: number;
    }
  /**
   * The process that ran the attempt died, or its message was received too often without an outcome. No
   * attempt is spent. Losses are counted apart, and the wait grows with each loss (`lossDelayMs`), because
   * the work may be what kills the processes.
   */
  | { readonly kind: 'lost'; readonly error: string }
  /**
   * Something other than the work prevented the attempt. No attempt is spent; the next one is due after
   * `POSTPONED_MS`.
   */
  | { readonly kind: 'postponed'; readonly error: string; readonly cause?: unknown }
  /**
   * An import makes no more uploads while its user has many open ones, so that those of other users get their
   * turn. No attempt is spent, and the next one is due after `delayMs`.
   */
  | { readonly kind: 'yielded'; readonly delayMs: number }
  /**
   * The process is stopping. No attempt is spent. `stops`: how often the work was stopped since it last made
   * something that stays, this time included; 0, the default: it may be stopped any number of times.
   */
  | { readonly kind: 'interrupted'; readonly stops?: number };

/** What follows an ended attempt: nothing, another attempt, or the end of all attempts. */
export type NextStep =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly attempt: number; readonly delayMs: number }
  | { readonly kind: 'give_up'; readonly reason: string };

/**
 * The wait after a postponed attempt, in ms. Without a wait, the message would cycle as fast as the machine
 * allows.
 */
const POSTPONED_MS = 1000;

export const INTERRUPTED = 'interrupted';
export const YIELDED = 'yielded';
export const WORKER_LOST = 'worker lost';

/** The number of an attempt, from 1, and how often the work was lost before. */
export interface AttemptCount {
  readonly attempt: number;
  readonly losses: number;
}

/** Applies the retry policy to an outcome. `random` is uniform in [0, 1). */
export function decideNextStep(
  outcome: AttemptOutcome,
  { attempt, losses: lossesBefore }: AttemptCount,
  policy: RetryPolicy,
  random: number,
): NextStep {
  switch (outcome.kind) {
    case 'succeeded':
      return { kind: 'done' };
    case 'interrupted': {
      const { stops = 0 } = outcome;
      if (stops >= MAX_STOPS) return { kind: 'give_up', reason: stoppedTooOften(stops) };
      return { kind: 'retry', attempt, delayMs: 0 };
    }
    case 'yielded':
      return { kind: 'retry', attempt, delayMs: outcome.delayMs };
    case 'postponed':
      return { kind: 'retry', attempt, delayMs: POSTPONED_MS };
    case 'lost': {
      const losses = lossesBefore + 1;
      if (losses >= (policy.maxLosses ?? Infinity))
        return { kind: 'give_up', reason: lostTooOften(outcome.error, losses) };
      return { kind: 'retry', attempt, delayMs: lossDelayMs(losses) };
    }
    case 'failed': {
      if (outcome.isFinal === true) return { kind: 'give_up', reason: outcome.error };
      const delayMs = retryDelayMs(policy, attempt, random);
      if (delayMs === null) return { kind: 'give_up', reason: giveUpReason(outcome.error, policy) };
      return { kind: 'retry', attempt: attempt + 1, delayMs: Math.max(delayMs, outcome.notBeforeMs ?? 0) };
    }
    default:
      return outcome satisfies never;
  }
}

/** Has the class of the last error. One without a class is a defect, whose text is for operators. */
function giveUpReason(error: string, policy: RetryPolicy): string {
  const { class: last, text } = parseReason(error);
  const reason = `${maxAttempts(policy)} attempts failed; the last: ${text ?? wordsOf(last)}`;
  return storedReason(last === 'other' ? 'internal' : last, reason);
}

function stoppedTooOften(stops: number): string {
  return storedReason(
    INTERRUPTED,
    `its workers were stopped ${stops} times before they could make anything more`,
  );
}

/** Without the text of the loss, which names the worker. */
function lostTooOften(error: string, losses: number): string {
  const last = wordsOf(parseReason(error).class);
  return storedReason('lost_too_often', `lost ${losses} times; the last: ${last}`);
}
