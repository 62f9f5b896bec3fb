import { sequelOf, WORKER_LOST, type RetryPolicy } from '@pasteflow/domain';
import {
  findZombies,
  settleUploads,
  type Actor,
  type SettledUpload,
  type UploadSettlement,
  type Zombie,
} from '@pasteflow/postgres';
import type { Logger } from '@pasteflow/runtime';
import { dispatchUploads, type UploadQueue } from '../dispatch.ts';
import type { Sweep, SweepCounts } from '../sweep.ts';

export interface ReapExecutionsOptions extends UploadQueue {
  readonly actor: Actor;
  readonly policy: RetryPolicy;
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
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, actor } = this.#options;
    const counts = { lost: 0, rescued: 0, given_up: 0, dispatched: 0, outrun: 0 };
    while (!signal.aborted) {
      const zombies = await findZombies(db, 'upload', BATCH);
      const settlements = zombies.map((zombie) => this.#settlementOf(zombie));
      const settled = await settleUploads(db, settlements, { actor, onlyPastLease: true, dispatched: false });
      const successors = [...settled.values()].flatMap(toDue);
      counts.lost += settled.size;
      counts.outrun += zombies.length - settled.size;
      counts.rescued += successors.length;
      counts.given_up += settled.size - successors.length;
      counts.dispatched += await this.#dispatch(successors, signal);
      if (zombies.length < BATCH || settled.size === 0) break;
    }
    return counts;
  }

  #settlementOf({ executionId, attempt, workerId }: Zombie): UploadSettlement {
    const { policy, random } = this.#options;
    const outcome = { kind: 'lost', error: `${WORKER_LOST}: ${workerId}` } as const;
    return { executionId, outcome, sequel: sequelOf(outcome, attempt, policy, random()) };
  }

  /** Not left to the relay, which would wait out its interval and its grace. If SQS is down it is the relay's after all. */
  async #dispatch(successors: ReturnType<typeof toDue>, signal: AbortSignal): Promise<number> {
    try {
      return await dispatchUploads(this.#options, successors, signal);
    } catch (error) {
      this.#options.logger.warn('rescued uploads wait for the relay', { count: successors.length, error });
      return 0;
    }
  }
}

/** Without content: the worker reads it from its payload, which is rare enough. */
function toDue({ successorId, shortCode }: SettledUpload) {
  return successorId === null ? [] : [{ executionId: successorId, shortCode, content: null }];
}
