import { findRetryable, retryFailed, type Database, type RetriedBy } from '@pasteflow/postgres';

/** The pastes to retry: one, or all that failed at or after a time. */
export type RetryWhich =
  { readonly kind: 'one'; readonly shortCode: string } | { readonly kind: 'since'; readonly since: Date };

export interface Retried {
  readonly retried: number;
  /** FAILED pastes that another process changed meanwhile, or, of one, a paste that can't be retried. */
  readonly skipped: number;
}

/** Pastes a statement: at most 1 GiB of content moves in one transaction. */
const BATCH = 100;

/** Retries FAILED pastes (ADR 22), in batches. A run that is cut off has retried some batches; run it again for the others. */
export async function retryFailedPastes(db: Database, which: RetryWhich, by: RetriedBy): Promise<Retried> {
  if (which.kind === 'one') {
    const { length: retried } = await retryFailed(db, [which.shortCode], by);
    return { retried, skipped: 1 - retried };
  }
  const counts = { retried: 0, skipped: 0 };
  let after: string | null = null;
  for (;;) {
    const found: Awaited<ReturnType<typeof findRetryable>> = await findRetryable(db, {
      since: which.since,
      after,
      limit: BATCH,
    });
    const codes = found.map(({ shortCode }) => shortCode);
    const { length: retried } = await retryFailed(db, codes, by);
    counts.retried += retried;
    counts.skipped += codes.length - retried;
    after = found.at(-1)?.failedId ?? null;
    if (found.length < BATCH) return counts;
  }
}
