import type { Request, Response } from 'express';
import type { PasteRow } from '@pasteflow/postgres';
import { contextOf } from '../http/request/request-context.ts';
import type { Live } from '../live/live.ts';
import { UploadWaiter } from '../live/upload-waiter.ts';
import type { StorageFailures } from './storage-failures.ts';

export interface WaitForUploadDependencies {
  readonly live: Pick<Live, 'poller' | 'tryPlace'>;
  /** 0: reads of content never wait. */
  readonly contentWaitMs: number;
  readonly storageFailures: StorageFailures;
}

/**
 * Lets a read of content wait for an upload in progress, which usually ends within 0.1 s. The client did
 * not ask for a wait, so without a free place, and while S3 is known to fail, the read is answered at once.
 * @returns whether the read has waited, so that the row is out of date
 */
export async function waitForUpload(
  { live: { poller, tryPlace }, contentWaitMs, storageFailures }: WaitForUploadDependencies,
  { id }: Pick<PasteRow, 'id'>,
  req: Request,
  res: Response,
): Promise<boolean> {
  if (contentWaitMs === 0 || storageFailures.areRecent) return false;
  const leavePlace = tryPlace(req, 'content');
  if (leavePlace === null) return false;
  try {
    const waiter = new UploadWaiter(poller, { id, waitMs: contentWaitMs });
    if (!poller.watch(waiter)) return false;
    const context = contextOf(req);
    context.waitingSinceMs = performance.now();
    const end = await waiter.end(res);
    context.waitedUntilMs = performance.now();
    if (end === 'storage_failed') storageFailures.failed();
    return true;
  } finally {
    leavePlace();
  }
}
