import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '@pasteflow/domain';
import type { ClaimedUpload } from '@pasteflow/postgres';
import type { ObjectStore } from '@pasteflow/s3';
import { confirmStored } from '../../src/uploads/confirm-stored.ts';

const upload: ClaimedUpload = {
  shortCode: 'abc',
  executionId: 'e',
  pasteId: 'p',
  attempt: 6,
  losses: 0,
  contentHash: `sha256:${'0'.repeat(64)}`,
  sizeBytes: 5,
};
const failed = { kind: 'failed', error: 'storage unavailable: S3 did not answer' } as const;

/** Sends a byte now and then, and ends only when the test ends it. */
const endless: Pick<ObjectStore, 'findContent' | 'urlOf'> = {
  urlOf: (key) => key,
  findContent: (_key, { signal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new DependencyUnavailableError('s3')));
    }),
};

describe('the look at the bucket for an upload that would be given up', () => {
  it('ends after a time even when the store sends the object without an end', async () => {
    expect(await confirmStored(endless, upload, failed, new AbortController().signal, 20)).toEqual(failed);
  });

  it('is interrupted by the signal', async () => {
    const stop = new AbortController();
    const looking = confirmStored(endless, upload, failed, stop.signal);
    stop.abort();
    expect(await looking).toEqual({ kind: 'interrupted' });
  });
});
