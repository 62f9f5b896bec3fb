import { type Answer, EXIT_FAILED, asJson, failed, succeeded } from '@pasteflow/service-kit';
import { countRetryable, retryFailed, type Database } from '@pasteflow/postgres';
import { operator } from './operator.ts';
import { retryFailedSince } from './retry-failed-since.ts';

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
  let reported = 0;
  const by = { actor: operator(), reason: options.reason };
  const counts = await retryFailedSince(db, since, by, {
    onBatch: ({ retried, skipped }) => {
      if (retried + skipped - reported < PROGRESS_STEP) return;
      reported = retried + skipped;
      options.onProgress(`ops: ${reported} of ${retryable} pastes: retried ${retried}, skipped ${skipped}`);
    },
  });
  return succeeded(options.json ? asJson(counts) : `Retried ${counts.retried}, skipped ${counts.skipped}.\n`);
}
