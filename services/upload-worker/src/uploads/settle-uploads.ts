import type { PasteUploadState } from '@pasteflow/domain';
import {
  mayBeOfOneRow,
  settleExecutions,
  uploadSubject,
  type Settled,
  type UploadSettlement,
} from '@pasteflow/postgres';
import { MAX_LOCK_WAIT_MS, maySettleAgain } from '../executions/settle-again.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import type { UploadEvents } from './events.ts';

/** Null: another process had ended the execution. */
type SettledUpload = Settled<PasteUploadState> | null;

/** An upload that waits for others to be settled with it. */
interface Ended {
  readonly settlement: UploadSettlement;
  readonly resolve: (settled: SettledUpload) => void;
  readonly reject: (error: unknown) => void;
}

/** Statements of 50 are twice as fast for an upload as single ones, and larger ones hardly faster. */
const MAX_TOGETHER = 64;

/**
 * How long a statement for several uploads waits for one locked row, in ms. Afterwards each is settled alone,
 * so that the row delays no other upload.
 */
const MAX_LOCK_WAIT_TOGETHER_MS = 250;

export interface UploadSettlerOptions {
  readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'gate' | 'running' | 'graceOver'>;
  readonly events: Pick<UploadEvents, 'dependencyFailed'>;
  /** How long an ended put waits for others, in ms. */
  readonly lingerMs: number;
  /** Whether this process puts nothing at the moment, so that no other put can end. */
  readonly isIdle: () => boolean;
}

/** Settles the puts that end within a few ms by one statement, in whatever batches their messages came. */
export class UploadSettler {
  readonly #options: UploadSettlerOptions;
  #ended: Ended[] = [];
  #lingering: NodeJS.Timeout | undefined;

  constructor(options: UploadSettlerOptions) {
    this.#options = options;
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
        if (!isAlone) return await this.#settleWithOthers(settlement);
        return (await this.#run([settlement], MAX_LOCK_WAIT_MS)).get(executionId) ?? null;
      } catch (error) {
        failures += 1;
        isAlone ||= mayBeOfOneRow(error);
        if (!(await maySettleAgain(worker, executionId, { error, failures }))) return null;
      }
    }
  }

  #settleWithOthers(settlement: UploadSettlement): Promise<SettledUpload> {
    const { isIdle, lingerMs } = this.#options;
    const settled = new Promise<SettledUpload>((resolve, reject) =>
      this.#ended.push({ settlement, resolve, reject }),
    );
    if (isIdle() || this.#ended.length >= MAX_TOGETHER) void this.#settleEnded();
    else this.#lingering ??= setTimeout(() => void this.#settleEnded(), lingerMs);
    return settled;
  }

  /** Never throws. */
  async #settleEnded(): Promise<void> {
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    const ended = this.#ended;
    this.#ended = [];
    try {
      const settlements = ended.map(({ settlement }) => settlement);
      const settled = await this.#run(settlements, MAX_LOCK_WAIT_TOGETHER_MS);
      for (const { settlement, resolve } of ended) resolve(settled.get(settlement.executionId) ?? null);
    } catch (error) {
      for (const { reject } of ended) reject(error);
    }
  }

  async #run(settlements: readonly UploadSettlement[], maxLockWaitMs: number) {
    const { worker, events } = this.#options;
    const { db, actor } = worker;
    try {
      return await settleExecutions(db, uploadSubject, settlements, {
        actor,
        dispatched: true,
        maxLockWaitMs,
      });
    } catch (error) {
      events.dependencyFailed('settling uploads', error);
      throw error;
    }
  }
}
