import type { PasteUploadState } from '@pasteflow/domain';
import {
  mayBeOfOneRow,
  settleExecutions,
  uploadSubject,
  type Settled,
  type UploadSettlement,
} from '@pasteflow/postgres';
import { Batcher } from '@pasteflow/runtime';
import { MAX_LOCK_WAIT_MS, maySettleAgain } from '../executions/settle-again.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import type { UploadEvents } from '../events.ts';

/** Null: another process had ended the execution. */
type SettledUpload = Settled<PasteUploadState> | null;

/** Statements of 50 are twice as fast for an upload as single ones, and larger ones hardly faster. */
const MAX_TOGETHER = 64;

/**
 * How long a statement for several uploads waits for one locked row, in ms. Afterwards each is settled alone,
 * so that the row delays no other upload.
 */
const MAX_LOCK_WAIT_TOGETHER_MS = 250;

/** Settles the puts that end within a few ms by one statement, in whatever batches their messages came. */
export class UploadSettler {
  readonly #options;
  readonly #together: Batcher<UploadSettlement, SettledUpload>;

  constructor(options: {
    readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'gate' | 'running' | 'graceOver'>;
    readonly events: Pick<UploadEvents, 'dependencyFailed'>;
    /** How long an ended put waits for others, in ms. */
    readonly lingerMs: number;
    /** Whether this process puts nothing at the moment, so that no other put can end. */
    readonly isIdle: () => boolean;
  }) {
    this.#options = options;
    this.#together = new Batcher({
      run: (settlements) => this.#run(settlements, MAX_LOCK_WAIT_TOGETHER_MS),
      maxItems: MAX_TOGETHER,
      lingerMs: options.lingerMs,
      isLast: options.isIdle,
    });
  }

  /**
   * Settles an upload for as long as its lease is renewed: together with others, and alone once one row may be
   * the reason that the statement failed for all. Never throws.
   */
  async settle(settlement: UploadSettlement): Promise<SettledUpload> {
    const { worker } = this.#options;
    const { executionId } = settlement;
    let isAlone = false;
    for (let failures = 0; ;) {
      try {
        if (!isAlone) return await this.#together.call(settlement);
        const [settled = null] = await this.#run([settlement], MAX_LOCK_WAIT_MS);
        return settled;
      } catch (error) {
        failures += 1;
        isAlone ||= mayBeOfOneRow(error);
        if (!(await maySettleAgain(worker, executionId, { error, failures }))) return null;
      }
    }
  }

  async #run(
    settlements: readonly UploadSettlement[],
    maxLockWaitMs: number,
  ): Promise<readonly SettledUpload[]> {
    const { worker, events } = this.#options;
    const { db, actor } = worker;
    try {
      const how = { actor, dispatched: true, maxLockWaitMs };
      const settled = await settleExecutions(db, uploadSubject, settlements, how);
      return settlements.map(({ executionId }) => settled.get(executionId) ?? null);
    } catch (error) {
      events.dependencyFailed('settling uploads', error);
      throw error;
    }
  }
}
