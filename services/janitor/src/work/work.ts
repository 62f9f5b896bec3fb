import type { AttemptOutcome, NextStep, RetryPolicy } from '@pasteflow/domain';
import type { ExecutionKind, SettleOptions } from '@pasteflow/postgres';
import type { Queue } from '@pasteflow/sqs';
import { countsBefore, keepCounts } from '../sweeping/keeping-counts.ts';
import type { SweepCounts } from '../sweeping/sweep.ts';
import type { Due } from './due.ts';

/** A kind of work that goes through a queue of its own: what relay, reaper and dead letters have to know of it. */
export interface Work {
  readonly kind: ExecutionKind;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly policy: RetryPolicy;
  /** What no message was ever sent for. */
  findUndispatched(options: { graceSeconds: number; limit: number }): Promise<Due>;
  /** What a message was sent for that may be lost, the longest sent first. */
  findOverdue(options: { olderThanSeconds: number; limit: number }): Promise<Due>;
  /** How many messages are to be taken for lost, when some are overdue; null: so many wait that there is no telling. */
  countLost(): Promise<number | null>;
  /** Which upload or job a message's body stands for. @throws PasteflowError malformed_message */
  subjectOf(body: string | undefined): string;
  /** By subject; one that isn't in the answer is gone. */
  claim(
    subjects: readonly string[],
    by: { actor: string; leaseSeconds: number },
  ): Promise<ReadonlyMap<string, Claim>>;
  /** Ends executions in their workers' stead. */
  settle(settlements: readonly Settlement[], options: Omit<SettleOptions, 'dispatched'>): Promise<Settled>;
}

export type Claim =
  | { readonly kind: 'claimed'; readonly executionId: string; readonly attempt: number }
  | { readonly kind: 'not_now' | 'ended' };

/** Whoever settles for a worker that is gone knows of no success. */
export interface Settlement {
  readonly executionId: string;
  readonly outcome: Extract<AttemptOutcome, { kind: 'failed' | 'lost' }>;
  readonly nextStep: Exclude<NextStep, { kind: 'done' }>;
}

interface Settled {
  /** Settlements that counted. */
  readonly count: number;
  /** The next attempts, due at once or after their wait. Without a message as yet. */
  readonly successors: Due;
}

/**
 * Does it for each kind side by side, so that trouble with one queue doesn't hold up the other.
 * @returns the counts, added up. @throws the first failure, when all have ended
 */
export async function sumOver<Counts extends SweepCounts>(
  works: readonly Work[],
  run: (work: Work) => Promise<Counts>,
): Promise<Counts> {
  const runs = await Promise.allSettled(works.map(run));
  const sums: Record<string, number> = {};
  for (const each of runs) {
    const counts = each.status === 'fulfilled' ? each.value : countsBefore(each.reason);
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  const failed = runs.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    keepCounts(failed.reason, sums);
    throw failed.reason;
  }
  return sums as Counts;
}
