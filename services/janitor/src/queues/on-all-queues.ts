import type { WorkQueue } from './work-queue.ts';

/**
 * Runs on all queues side by side, so that trouble with one doesn't hold up the other.
 * @throws the first failure, after all have ended
 */
export async function onAllQueues(
  queues: readonly WorkQueue[],
  run: (queue: WorkQueue) => Promise<void>,
): Promise<void> {
  const runs = await Promise.allSettled(queues.map(run));
  const failed = runs.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
