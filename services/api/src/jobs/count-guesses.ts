import type { Request, Response } from 'express';
import { jobTypes } from '@pasteflow/jobs';
import { findPaste, type Database } from '@pasteflow/postgres';
import { callerOf } from '../identity/caller-of.ts';
import { limitedAs } from '../http/request/caller.ts';
import type { Limits } from '../limits/limits.ts';
import type { NewJob } from './new-job.ts';

export interface CountGuessesDependencies {
  readonly db: Database;
  readonly limits: Pick<Limits, 'countMiss' | 'refuseGuesser'>;
}

/**
 * A job that reads a paste tells by how it ends whether there is one: a short code that it names and that its user can't read counts as a
 * miss, like a read of it, though the job is made all the same.
 * @throws RequestError rate_limited for who has guessed wrong too often
 */
export async function countGuesses(
  { db, limits }: CountGuessesDependencies,
  req: Request,
  res: Response,
  { job_type: jobType, parameters }: NewJob,
): Promise<void> {
  const shortCodes = jobTypes.get(jobType)?.looksUp?.(parameters) ?? [];
  if (shortCodes.length === 0) return;
  const caller = callerOf(req);
  limits.refuseGuesser(res, limitedAs(caller));
  for (const shortCode of shortCodes) {
    const paste = await findPaste(db, shortCode);
    const isMine = caller.kind === 'user' && paste?.user_id === caller.userId;
    const isMiss = paste === null || paste.status === 'FAILED' || (paste.visibility === 'private' && !isMine);
    if (isMiss) await limits.countMiss(res, limitedAs(caller));
  }
}
