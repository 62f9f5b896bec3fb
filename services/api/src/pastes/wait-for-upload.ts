import type { Request, Response } from 'express';
import type { PasteRow } from '@pasteflow/postgres';
import type { Live } from '../live/live.ts';
import { waitForEnd } from '../live/wait-for-end.ts';

export interface WaitForUploadDependencies {
  readonly live: Pick<Live, 'poller' | 'places'>;
  /** 0: reads of content never wait. */
  readonly contentWaitMs: number;
}

/**
 * Lets a read of content wait for an upload in progress, which usually ends within 0.1 s. The client did
 * not ask for a wait, so without a free place the read is answered at once.
 * @returns whether the read has waited, so that the row is out of date
 */
export async function waitForUpload(
  { live: { poller, places }, contentWaitMs: ms }: WaitForUploadDependencies,
  { id }: Pick<PasteRow, 'id'>,
  req: Request,
  res: Response,
): Promise<boolean> {
  if (ms === 0) return false;
  const leavePlace = places.tryTake(req, 'content');
  if (leavePlace === null) return false;
  try {
    return await waitForEnd(poller, req, res, { purpose: 'content', kind: 'upload', id, ms });
  } finally {
    leavePlace();
  }
}
