import { DependencyUnavailableError, type PasteUploadState } from '@pasteflow/domain';
import {
  isSystemError,
  isTimeout,
  settleExecutions,
  uploadSubject,
  type Settled,
  type UploadSettlement,
} from '@pasteflow/postgres';
import { Groups } from '@pasteflow/runtime';
import { settleWithRetry } from '../executions/settle-with-retry.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import type { UploadEvents } from './events.ts';

/** Null: another process had ended the execution. */
type SettledUpload = Settled<PasteUploadState> | null;

/** Settles an upload, for as long as its lease is renewed. Never throws. */
export type SettleUpload = (settlement: UploadSettlement) => Promise<SettledUpload>;

/**
 * How long the settlement of a group waits for one locked row. Afterwards each is settled alone, so that the row delays no other upload.
 * The statement of a group that waits for a paste has locked the rows of its executions, which a renewal of leases skips.
 */
const MAX_GROUP_LOCK_WAIT_MS = 250;

export interface SettleUploadsOptions {
  readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'gate' | 'running' | 'graceOver'>;
  readonly events: Pick<UploadEvents, 'dependencyFailed'>;
  /** How long an ended put waits for others, in ms. */
  readonly lingerMs: number;
  /** Whether this process puts nothing at the moment, so that no other put can end. */
  readonly isIdle: () => boolean;
}

/** Puts that end within a few ms, in whatever batches their messages came, are settled together (ADR 52). */
export function createSettleUpload({ worker, events, lingerMs, isIdle }: SettleUploadsOptions): SettleUpload {
  const { db, actor } = worker;

  async function run(
    settlements: readonly UploadSettlement[],
    maxLockWaitMs: number,
  ): Promise<SettledUpload[]> {
    try {
      const by = { actor, dispatched: true, maxLockWaitMs };
      const settled = await settleExecutions(db, uploadSubject, settlements, by);
      return settlements.map(({ executionId }) => settled.get(executionId) ?? null);
    } catch (error) {
      events.dependencyFailed('settling uploads', error);
      throw error;
    }
  }

  const groups = new Groups<UploadSettlement, SettledUpload>({
    run: (settlements) => run(settlements, MAX_GROUP_LOCK_WAIT_MS),
    canRunAlone: isOfOneRow,
    refusal: () => new DependencyUnavailableError('postgres'),
    lingerMs,
    isComplete: isIdle,
  });
  return (settlement) =>
    settleWithRetry(worker, settlement.executionId, async ({ previous, maxLockWaitMs }) => {
      // A row that is locked or refused would make each group fail that it joins.
      if (!isOfOneRow(previous)) return await groups.call(settlement);
      const [settled] = await run([settlement], maxLockWaitMs);
      return settled ?? null;
    });
}

/**
 * Whether Postgres works, and one row of the statement may be the reason of the error. Such a statement is repeated row by row, which is
 * safe: an execution ends once.
 */
function isOfOneRow(error: unknown): boolean {
  if (error === undefined) return false;
  return isTimeout(error) || isSystemError(error) || !(error instanceof DependencyUnavailableError);
}
