import { onAll, type SweptWork, type UnsentMessages } from './queues/work-queue.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

const BATCH = 500;

/**
 * Ends the executions of crashed workers and sends the next attempts at once: within 10 s of the crash with a
 * lease of 6 s. `outrun` counts zombies that renewed their lease, or were ended by another process, before
 * this sweep could end them.
 */
export function createReapExecutions({
  work,
  actor,
  random,
  logger,
}: Pick<JanitorContext, 'work' | 'actor' | 'random' | 'logger'>): Sweep<'reap-executions'> {
  /** The relay would wait for its interval and its grace. It sends these messages only if SQS is down now. */
  async function dispatch({ kind }: SweptWork, successors: UnsentMessages, signal: AbortSignal) {
    try {
      return await successors.dispatch(signal);
    } catch (error) {
      logger.warn(`messages of rescued ${kind}s left to the relay`, { count: successors.count, error });
      return 0;
    }
  }

  const zero = { lost: 0, rescued: 0, given_up: 0, dispatched: 0, outrun: 0 };
  return defineSweep('reap-executions', zero, (counts, signal, refused) =>
    onAll(work, async (each) => {
      while (!signal.aborted) {
        const { found, ended } = await each.endZombies(BATCH, { actor, random, refused });
        counts.lost += ended.count;
        counts.outrun += found - ended.count;
        counts.rescued += ended.successors.count;
        counts.given_up += ended.count - ended.successors.count;
        const dispatched = await dispatch(each, ended.successors, signal);
        counts.dispatched += dispatched; // not `+= await`: another kind adds to it meanwhile
        if (found < BATCH || ended.count === 0) break;
      }
    }),
  );
}
