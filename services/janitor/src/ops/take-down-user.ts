import { findStanding, takeDown, type Database, type TakedownBy } from '@pasteflow/postgres';

/** Pastes in one transaction. It locks their rows for some 50 ms. */
const BATCH = 500;

export interface TakeDownUserOptions {
  /** Ends the work between two batches. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the number of pastes taken down so far. */
  readonly onBatch?: (done: number) => void;
}

/**
 * Takes down all pastes of a user, also those that the user creates meanwhile. Each batch is a transaction: a run that is cut off has taken
 * down some batches; run again, it takes down the others.
 * @returns how many pastes it took down
 */
export async function takeDownUser(
  db: Database,
  userId: string,
  by: TakedownBy,
  { signal, onBatch }: TakeDownUserOptions = {},
): Promise<number> {
  let done = 0;
  for (;;) {
    signal?.throwIfAborted();
    const codes = await findStanding(db, userId, BATCH);
    if (codes.length === 0) return done;
    done += (await takeDown(db, codes, by)).takenDown.length;
    onBatch?.(done);
  }
}
