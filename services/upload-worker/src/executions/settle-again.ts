import { isTimeout } from '@pasteflow/postgres';
import { backoffMs, sleep } from '@pasteflow/runtime';
import type { WorkerContext } from './worker-context.ts';

/**
 * How long a settlement waits for one locked row, in ms. A statement that waits for a paste or a job has
 * locked the row of its execution, which a renewal skips, so that it must not wait for as long as a lease
 * lasts.
 */
export const MAX_LOCK_WAIT_MS = 1000;

const BACKOFF = { firstMs: 50, capMs: 1000, jitter: 0.2 };

/**
 * To be called after a settlement has failed: whether to repeat it, after a wait. It is repeated for as long
 * as its lease is renewed: Postgres may be slow, or a row locked. Without a lease another worker repeats the
 * work, which spends no attempt. When a settlement counted but its answer was lost, the repetition finds it
 * lost, and the next receipt of the message finds the true state.
 * @param failures how often it has failed, from 1
 */
export async function maySettleAgain(
  { gate, running, graceOver }: Pick<WorkerContext, 'gate' | 'running' | 'graceOver'>,
  executionId: string,
  { error, failures }: { readonly error: unknown; readonly failures: number },
): Promise<boolean> {
  const tooLong = isTimeout(error);
  if (!tooLong) gate.close();
  if (!running.owns(executionId) || graceOver.aborted) return false;
  if (tooLong) running.renewSoon();
  await sleep(backoffMs(BACKOFF, failures, Math.random()), graceOver);
  return true;
}
