import { DependencyUnavailableError } from '@pasteflow/domain';
import { backoffMs, sleep } from '@pasteflow/runtime';
import type { WorkerContext } from './worker-context.ts';

export interface Settling<Settlement, Settled> {
  /** One try; what lost is not in its answer. */
  readonly settle: (settlements: readonly Settlement[]) => Promise<ReadonlyMap<string, Settled>>;
  readonly onError: (error: unknown) => void;
}

const BACKOFF = { firstMs: 50, capMs: 1000, jitter: 0.2 };

/**
 * The work is done and only Postgres has to hear of it: tried again for the length of a lease, after which someone else does the work. A
 * settlement that counted, but whose answer was lost, comes out as lost on the second try: the message then finds the truth. What
 * Postgres refuses is settled one by one, so that one bad settlement doesn't take the others with it. A worker that is being stopped tries
 * once.
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
