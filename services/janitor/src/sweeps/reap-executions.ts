import { WORKER_LOST } from '@pasteflow/domain';
import type { Actor } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { sumOverQueues } from '../queues/sum-over-queues.ts';
import type { UnsentMessages } from '../queues/unsent-messages.ts';
import type { WorkQueue } from '../queues/work-queue.ts';
import { runCounted } from '../sweeping/attached-counts.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface ReapExecutionsOptions {
  readonly queues: readonly WorkQueue[];
  readonly actor: Actor;
  readonly random: () => number;
  readonly logger: Logger;
}

const BATCH = 500;

/** Ends the executions of crashed workers (T5) and sends the next attempts at once: within 10 s of the crash with a lease of 6 s. */
export class ReapExecutions implements Sweep {
  readonly name = 'reap-executions';
  readonly #options: ReapExecutionsOptions;

  constructor(options: ReapExecutionsOptions) {
    this.#options = options;
  }

  /** `outrun` counts zombies that renewed their lease, or were ended by another process, before this sweep could end them. */
  runOnce(signal: AbortSignal): Promise<SweepCounts> {
    return sumOverQueues(this.#options.queues, (queue) => this.#reap(queue, signal));
  }

  async #reap(queue: WorkQueue, signal: AbortSignal): Promise<SweepCounts> {
    const { actor, random } = this.#options;
    return runCounted({ lost: 0, rescued: 0, given_up: 0, dispatched: 0, outrun: 0 }, async (counts) => {
      while (!signal.aborted) {
        const { found, ended } = await queue.endZombies(
          BATCH,
          ({ workerId }) => ({ kind: 'lost', error: `${WORKER_LOST}: ${workerId}` }),
          { actor, random },
        );
        counts.lost += ended.count;
        counts.outrun += found - ended.count;
        counts.rescued += ended.successors.count;
        counts.given_up += ended.count - ended.successors.count;
        counts.dispatched += await this.#dispatch(queue, ended.successors, signal);
        if (found < BATCH || ended.count === 0) break;
      }
    });
  }

  /** The relay would wait for its interval and its grace. It sends these messages only if SQS is down now. */
  async #dispatch({ kind }: WorkQueue, successors: UnsentMessages, signal: AbortSignal): Promise<number> {
    try {
      return await successors.dispatch(signal);
    } catch (error) {
      this.#options.logger.warn(`messages of rescued ${kind}s left to the relay`, {
        count: successors.count,
        error,
      });
      return 0;
    }
  }
}
