import { DependencyUnavailableError } from '@pasteflow/domain';
import { isTimeout } from '@pasteflow/postgres';
import { backoffMs, sleep } from '@pasteflow/runtime';
import type { WorkerContext } from './worker-context.ts';

export interface Settling<Settlement, Settled> {
  /** One attempt. An execution that is missing from the result was ended by another process. */
  readonly settle: (
    settlements: readonly Settlement[],
    limits: { readonly maxLockWaitMs: number },
  ) => Promise<ReadonlyMap<string, Settled>>;
  readonly onError: (error: unknown) => void;
}

const BACKOFF = { firstMs: 50, capMs: 1000, jitter: 0.2 };

/**
 * How long a settlement waits for one locked row. Afterwards the others of its group are settled without that row. A statement that waits
 * for a paste or a job has locked the row of its execution, which a renewal skips, so that it must not wait for as long as a lease lasts.
 */
const MAX_LOCK_WAIT_MS = 1000;

/**
 * Settles executions, and retries for as long as their leases are renewed: Postgres may be slow, or a row locked. Without a lease another
 * worker repeats the work, which spends no attempt. When a settlement counted but its answer was lost, the retry reports it as lost; the
 * next receipt of the message finds the true state. A group that Postgres rejects, or does not settle in time, is settled one by one, so that
 * one invalid settlement or one locked row does not affect the others. The leases are renewed between two tries. No retry after the grace
 * period.
 * @returns the settlements that counted, by execution
 */
export async function settleWithRetry<Settlement extends { readonly executionId: string }, Settled>(
  worker: Pick<WorkerContext, 'gate' | 'running' | 'graceOver'>,
  settlements: readonly Settlement[],
  settling: Settling<Settlement, Settled>,
): Promise<ReadonlyMap<string, Settled>> {
  const { gate, running, graceOver } = worker;
  const { settle, onError } = settling;
  for (let failures = 1; ; failures++) {
    try {
      return await settle(settlements, { maxLockWaitMs: MAX_LOCK_WAIT_MS });
    } catch (error) {
      onError(error);
      const tooLong = isTimeout(error);
      if (settlements.length > 1 && (tooLong || !(error instanceof DependencyUnavailableError))) {
        const settled = await Promise.all(
          settlements.map((each) => settleWithRetry(worker, [each], settling)),
        );
        return new Map(settled.flatMap((each) => [...each]));
      }
      if (!tooLong) gate.close();
      const owned = settlements.some(({ executionId }) => running.owns(executionId));
      if (!owned || graceOver.aborted) return new Map();
      if (tooLong) void running.renewLeases().catch(() => {}); // the heartbeat reports it when Postgres does not answer
      await sleep(backoffMs(BACKOFF, failures, Math.random()), graceOver);
    }
  }
}
