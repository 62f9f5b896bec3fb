import { WORKER_LOST } from '@pasteflow/domain';
import { findZombies, type Actor, type Database } from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { keepingCounts } from '../sweeping/keeping-counts.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';
import type { Due } from '../work/due.ts';
import { settlementOf } from '../work/settlement.ts';
import { sumOver, type Work } from '../work/work.ts';

export interface ReapExecutionsOptions {
  readonly db: Database;
  readonly works: readonly Work[];
  readonly actor: Actor;
  readonly random: () => number;
  readonly logger: Logger;
}

const BATCH = 500;

/** Ends the executions of dead workers (T5), and has their work done elsewhere at once: within 10 s of the death with a lease of 6 s. */
export class ReapExecutions implements Sweep {
  readonly name = 'reap-executions';
  readonly #options: ReapExecutionsOptions;

  constructor(options: ReapExecutionsOptions) {
    this.#options = options;
  }

  /** `outrun`: zombies that came back, or were ended by someone else, before this could end them. */
  runOnce(signal: AbortSignal): Promise<SweepCounts> {
    return sumOver(this.#options.works, (work) => this.#reap(work, signal));
  }

  async #reap(work: Work, signal: AbortSignal): Promise<SweepCounts> {
    const { db, actor, random } = this.#options;
    return keepingCounts({ lost: 0, rescued: 0, given_up: 0, dispatched: 0, outrun: 0 }, async (counts) => {
      while (!signal.aborted) {
        const zombies = await findZombies(db, work.kind, BATCH);
        const settlements = zombies.map(({ executionId, attempt, workerId }) => {
          const outcome = { kind: 'lost', error: `${WORKER_LOST}: ${workerId}` } as const;
          return settlementOf({ executionId, attempt }, outcome, work.policy, random());
        });
        const { count, successors } = await work.settle(settlements, { actor, onlyPastLease: true });
        counts.lost += count;
        counts.outrun += zombies.length - count;
        counts.rescued += successors.count;
        counts.given_up += count - successors.count;
        counts.dispatched += await this.#dispatch(work, successors, signal);
        if (zombies.length < BATCH || count === 0) break;
      }
    });
  }

  /** Not left to the relay, which would wait out its interval and its grace. If SQS is down it is the relay's after all. */
  async #dispatch({ kind }: Work, successors: Due, signal: AbortSignal): Promise<number> {
    try {
      return await successors.dispatch(signal);
    } catch (error) {
      this.#options.logger.warn(`rescued ${kind}s wait for the relay`, { count: successors.count, error });
      return 0;
    }
  }
}
