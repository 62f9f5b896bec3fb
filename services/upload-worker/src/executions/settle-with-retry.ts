import { isTimeout } from '@pasteflow/postgres';
import { backoffMs, sleep } from '@pasteflow/runtime';
import type { WorkerContext } from './worker-context.ts';

/** One try at a settlement. Null: another process had ended the execution. */
export type TrySettlement<Settled> = (how: {
  /** The error of the previous try; undefined in the first one. */
  readonly previous: unknown;
  readonly maxLockWaitMs: number;
}) => Promise<Settled | null>;

const BACKOFF = { firstMs: 50, capMs: 1000, jitter: 0.2 };

/**
 * How long a settlement waits for one locked row. A statement that waits for a paste or a job has locked the row of its execution, which a
 * renewal skips, so that it must not wait for as long as a lease lasts.
 */
const MAX_LOCK_WAIT_MS = 1000;

/**
 * Settles an execution, and retries for as long as its lease is renewed: Postgres may be slow, or a row locked. Without a lease another
 * worker repeats the work, which spends no attempt. When a settlement counted but its answer was lost, the retry reports it as lost; the
 * next receipt of the message finds the true state. The leases are renewed between two tries. No retry after the grace period.
 * @returns null when the settlement did not count
 */
export async function settleWithRetry<Settled>(
  { gate, running, graceOver }: Pick<WorkerContext, 'gate' | 'running' | 'graceOver'>,
  executionId: string,
  settle: TrySettlement<Settled>,
): Promise<Settled | null> {
  let previous: unknown;
  for (let failures = 1; ; failures++) {
    try {
      return await settle({ previous, maxLockWaitMs: MAX_LOCK_WAIT_MS });
    } catch (error) {
      previous = error;
      const tooLong = isTimeout(error);
      if (!tooLong) gate.close();
      if (!running.owns(executionId) || graceOver.aborted) return null;
      if (tooLong) void running.renewLeases().catch(() => {}); // the heartbeat reports it when Postgres does not answer
      await sleep(backoffMs(BACKOFF, failures, Math.random()), graceOver);
    }
  }
}
