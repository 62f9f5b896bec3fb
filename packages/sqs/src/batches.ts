import { SQS_BATCH_SIZE } from '@pasteflow/domain';

/** Splits a list into the batches of one request each: 10 entries at most. */
export function sqsBatches<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const count = Math.ceil(entries.length / SQS_BATCH_SIZE);
  return Array.from({ length: count }, (_, n) => entries.slice(n * SQS_BATCH_SIZE, (n + 1) * SQS_BATCH_SIZE));
}
