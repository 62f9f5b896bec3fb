import { attachedCounts, attachCounts } from '../sweeping/attached-counts.ts';
import type { SweepCounts } from '../sweeping/sweep.ts';
import type { WorkQueue } from './work-queue.ts';

/**
 * Runs a sweep on all queues side by side, so that trouble with one queue doesn't hold up the other.
 * @returns the counts, added up
 * @throws the first failure, after all have ended
 */
export async function sumOverQueues<Counts extends SweepCounts>(
  queues: readonly WorkQueue[],
  run: (queue: WorkQueue) => Promise<Counts>,
): Promise<Counts> {
  const runs = await Promise.allSettled(queues.map(run));
  const sums: Record<string, number> = {};
  for (const each of runs) {
    const counts = each.status === 'fulfilled' ? each.value : attachedCounts(each.reason);
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  const failed = runs.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    attachCounts(failed.reason, sums);
    throw failed.reason;
  }
  return sums as Counts;
}
