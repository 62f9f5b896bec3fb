import { DependencyUnavailableError } from '@pasteflow/domain';
import { backoffMs, sleep } from '@pasteflow/runtime';
import type { WorkerContext } from './worker-context.ts';

export interface Settling<Settlement, Settled> {
  /** One attempt. An execution that is missing from the result was ended by another process. */
  readonly settle: (settlements: readonly Settlement[]) => Promise<ReadonlyMap<string, Settled>>;
  readonly onError: (error: unknown) => void;
}

const BACKOFF = { firstMs: 50, capMs: 1000, jitter: 0.2 };

/**
 * Settles executions, and retries for the length of a lease while Postgres does not answer. Afterwards another worker repeats the work. When
 * a settlement counted but its answer was lost, the retry reports it as lost; the next receipt of the message finds the true state. A group
 * that Postgres rejects is settled one by one, so that one invalid settlement does not affect the others. No retry after the grace period.
 * @returns the settlements that counted, by execution
 */
export async function settleWithRetry<Settlement, Settled>(
  worker: Pick<WorkerContext, 'gate' | 'leaseSeconds' | 'graceOver'>,
  settlements: readonly Settlement[],
  settling: Settling<Settlement, Settled>,
): Promise<ReadonlyMap<string, Settled>> {
  const { gate, leaseSeconds, graceOver } = worker;
  const { settle, onError } = settling;
  const deadline = performance.now() + leaseSeconds * 1000;
  for (let failures = 1; ; failures++) {
    try {
      return await settle(settlements);
    } catch (error) {
      onError(error);
      if (!(error instanceof DependencyUnavailableError) && settlements.length > 1) {
        const settled = await Promise.all(
          settlements.map((each) => settleWithRetry(worker, [each], settling)),
        );
        return new Map(settled.flatMap((each) => [...each]));
      }
      gate.close();
      if (performance.now() > deadline || graceOver.aborted) return new Map();
      await sleep(backoffMs(BACKOFF, failures, Math.random()), graceOver);
    }
  }
}
