import { asJson, EXIT_FAILED, failed, succeeded, type Answer } from '@pasteflow/command-line';
import { countRetryable, findRetryable, retryFailed, type Database } from '@pasteflow/postgres';
import { operator } from './operator.ts';

/** The pastes to retry: one, or all that failed at or after a time. Many are only counted unless `yes` is given. */
export type RetryWhich =
  | { readonly kind: 'one'; readonly shortCode: string }
  | { readonly kind: 'since'; readonly since: Date; readonly yes: boolean };

export interface RetryOptions {
  readonly which: RetryWhich;
  /** null: none was given. */
  readonly reason: string | null;
  readonly json: boolean;
  /** Called with a line now and then while many pastes are retried. */
  readonly onProgress: (line: string) => void;
}

/** Pastes a statement: at most 1 GiB of content moves in one transaction. */
const BATCH = 100;

/** Pastes between two lines of progress. */
const PROGRESS_STEP = 1000;

/** Retries FAILED pastes (ADR 22). */
export function runRetryFailed(db: Database, options: RetryOptions): Promise<Answer> {
  const { which } = options;
  return which.kind === 'one' ? retryOne(db, which.shortCode, options) : retryMany(db, which, options);
}

async function retryOne(db: Database, shortCode: string, { reason, json }: RetryOptions): Promise<Answer> {
  const { length: retried } = await retryFailed(db, [shortCode], { actor: operator(), reason });
  if (retried === 0)
    return failed(
      EXIT_FAILED,
      `ops: paste ${shortCode} is not FAILED, has expired, or its payload is gone; \`npm run ops -- timeline ${shortCode}\` shows which\n`,
    );
  return succeeded(json ? asJson({ retried, skipped: 0 }) : `Retried ${shortCode}.\n`);
}

async function retryMany(
  db: Database,
  { since, yes }: Extract<RetryWhich, { kind: 'since' }>,
  options: RetryOptions,
): Promise<Answer> {
  const retryable = await countRetryable(db, since);
  const found = `${retryable} FAILED pastes that failed since ${since.toISOString()} can be retried`;
  if (!yes && retryable > 0)
    return {
      ...failed(EXIT_FAILED, `ops: nothing was changed. To retry them, repeat the command with --yes\n`),
      stdout: options.json ? asJson({ retryable }) : `${found}.\n`,
    };
  const counts = await retryInBatches(db, since, retryable, options);
  return succeeded(options.json ? asJson(counts) : `Retried ${counts.retried}, skipped ${counts.skipped}.\n`);
}

/**
 * In batches, in the order of the ids: pastes that fail again meanwhile come later and are not retried twice. A run that is cut off has
 * retried some batches; run again, it retries the others. `skipped`: pastes that another process changed or locked meanwhile.
 */
async function retryInBatches(
  db: Database,
  since: Date,
  retryable: number,
  { reason, onProgress }: RetryOptions,
): Promise<{ readonly retried: number; readonly skipped: number }> {
  const by = { actor: operator(), reason };
  const counts = { retried: 0, skipped: 0 };
  let reported = 0;
  for (let after: string | null = null; ;) {
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
    const done = counts.retried + counts.skipped;
    if (done - reported < PROGRESS_STEP) continue;
    reported = done;
    onProgress(`ops: ${done} of ${retryable} pastes: retried ${counts.retried}, skipped ${counts.skipped}`);
  }
}
