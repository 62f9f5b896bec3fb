import { readOpenUploads } from '@pasteflow/postgres';
import type { JobContext } from '../../job-type.ts';
import { WorkYieldedError } from '../../work-failed.ts';

/**
 * Of one user, before an import makes a batch of 100 more. Another user's paste waits behind them: for half a
 * second, when a worker stores 400 in a second.
 */
const MAX_OPEN_UPLOADS = { uploads: 100, bytes: 64 * 1024 * 1024 };

const MIN_DELAY_SECONDS = 1;
const MAX_DELAY_SECONDS = 60;

/**
 * Checks that few uploads of the user are open. Otherwise the job comes back after as long as the oldest of
 * them has waited, times the jobs of its user: so all of them together come back about as often as one.
 * @throws WorkYieldedError
 */
export async function requireUploadTurn({
  userId,
  services: { db, maxOpenUploads: { uploads, bytes } = MAX_OPEN_UPLOADS },
}: Pick<JobContext<unknown>, 'userId' | 'services'>): Promise<void> {
  const open = await readOpenUploads(db, userId, uploads + 1);
  if (open.uploads <= uploads && open.bytes <= bytes) return;
  const seconds = Math.max(MIN_DELAY_SECONDS, open.oldestSeconds) * open.jobs;
  throw new WorkYieldedError(1000 * Math.min(MAX_DELAY_SECONDS, seconds));
}
