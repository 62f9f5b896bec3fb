import { sleep, type LogFields } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';

/** As docs/guarantees.md promises. */
const MAX_DAYS = 7;

export const KEPT_VERSIONS = 'the bucket keeps deleted content for longer than promised';

/**
 * What an operator must know of versions and object lock of the bucket; null: deleted content is gone within
 * the time that is promised.
 */
async function describeKeptVersions(store: Pick<ObjectStore, 'keptVersions'>): Promise<string | null> {
  const { days, lockedDays } = await store.keptVersions();
  if (lockedDays > MAX_DAYS)
    return `Object lock keeps each version in the bucket for ${lockedDays} days, so that deleted content stays there. Use a bucket without a default retention.`;
  if (days === null)
    return `The bucket keeps old versions for ever, so that deleted content stays there. Add a lifecycle rule that removes noncurrent versions after ${MAX_DAYS} days.`;
  if (days > MAX_DAYS)
    return `The bucket keeps old versions, and so deleted content, for ${days} days. Set its lifecycle rule to ${MAX_DAYS} days.`;
  return null;
}

/** For `warnDaily`. */
export async function findKeptVersions(
  store: Pick<ObjectStore, 'bucket' | 'keptVersions'>,
): Promise<LogFields | null> {
  const advice = await describeKeptVersions(store);
  return advice === null ? null : { bucket: store.bucket, advice };
}

/** An operator waits for the answer. */
const MAX_WAIT_MS = 3000;

/** For a report, which must neither fail nor wait because the settings can't be read. */
export async function keptVersionsOrWhyNot(store: Pick<ObjectStore, 'keptVersions'>): Promise<string | null> {
  const waiting = new AbortController();
  const late = sleep(MAX_WAIT_MS, waiting.signal).then(() => Promise.reject(new Error('no answer')));
  try {
    return await Promise.race([describeKeptVersions(store), late]);
  } catch {
    return 'Whether the bucket keeps old versions of deleted content could not be read.';
  } finally {
    late.catch(() => {});
    waiting.abort();
  }
}
