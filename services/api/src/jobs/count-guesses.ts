import type { Response } from 'express';
import { jobTypes } from '@pasteflow/jobs';
import { canRead } from '@pasteflow/service-kit';
import { findPaste, type Database } from '@pasteflow/postgres';
import { limitKeyOf, type Caller } from '../http/request/caller.ts';
import type { Limits } from '../limits/limits.ts';
import type { NewJob } from './new-job.ts';

export interface CountGuessesDependencies {
  readonly db: Database;
  readonly limits: Pick<Limits, 'countMiss' | 'refuseUsedUp'>;
}

/**
 * Counts the short codes in a job's parameters that its user can't read. How such a job ends reveals whether
 * the paste exists, so each counts as a miss, as a read of it does. The job is created all the same.
 * @throws RequestError rate_limited for a caller with too many misses
 */
export async function countGuesses(
  { db, limits }: CountGuessesDependencies,
  res: Response,
  caller: Caller,
  { job_type: jobType, parameters }: NewJob,
): Promise<void> {
  const shortCodes = jobTypes.get(jobType)?.readShortCodes?.(parameters) ?? [];
  if (shortCodes.length === 0) return;
  limits.refuseUsedUp(res, 'misses', limitKeyOf(caller));
  const userId = caller.kind === 'user' ? caller.userId : null;
  for (const shortCode of shortCodes) {
    const paste = await findPaste(db, shortCode);
    const isMiss = paste === null || paste.status === 'FAILED' || !canRead(paste, userId);
    if (isMiss) await limits.countMiss(res, limitKeyOf(caller));
  }
}
