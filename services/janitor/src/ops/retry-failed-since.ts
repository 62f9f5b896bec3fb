import { findRetryable, retryFailed, type Actor, type Database } from '@pasteflow/postgres';

/** Pastes a statement: at most 1 GiB of content moves in one transaction. */
const BATCH = 100;

export interface RetryCounts {
  readonly retried: number;
  /** Pastes that another process changed or locked meanwhile. */
  readonly skipped: number;
}

export interface RetryFailedSinceOptions {
  /** Ends the work between two batches. */
  readonly signal?: AbortSignal;
  /** Called after each full batch. */
  readonly onBatch?: (counts: RetryCounts) => void;
}

/**
 * Retries the pastes that FAILED since a time, in batches, in the order of the ids: pastes that fail again meanwhile come later and are not
 * retried twice. A run that is cut off has retried some batches; run again, it retries the others.
 */
export async function retryFailedSince(
  db: Database,
  since: Date,
  by: { readonly actor: Actor; readonly reason: string | null },
  { signal, onBatch }: RetryFailedSinceOptions = {},
): Promise<RetryCounts> {
  const counts = { retried: 0, skipped: 0 };
  for (let after: string | null = null; ;) {
    signal?.throwIfAborted();
    const found: Awaited<ReturnType<typeof findRetryable>> = await findRetryable(db, {
      since,
      after,
      limit: BATCH,
    });
    const codes = found.map(({ shortCode }) => shortCode);
    const { length: retried } = await retryFailed(db, codes, by);
    counts.retried += retried;
    counts.skipped += codes.length - retried;
    after = found.at(-1)?.failedId ?? null;
    if (found.length < BATCH) return counts;
    onBatch?.(counts);
  }
}
