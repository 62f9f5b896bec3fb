import {
  claimExecutions,
  mayBeOfOneRow,
  uploadSubject,
  type Claim,
  type ClaimedUpload,
} from '@pasteflow/postgres';
import type { WorkerContext } from '../executions/worker-context.ts';
import type { UploadEvents } from '../events.ts';

/** The answer to one message. */
export interface UploadClaim {
  readonly claim: Claim<ClaimedUpload>;
  /** `running.now()` before the claim. */
  readonly claimedAt: number;
  /** The same by performance.now(), for the trace. */
  readonly claimBeganAt: number;
}

export interface Claimer {
  readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'leaseSeconds' | 'running'>;
  readonly events: Pick<UploadEvents, 'dependencyFailed'>;
}

/** How long the claim of several uploads waits for one locked row, in ms. */
const MAX_LOCK_WAIT_MS = 250;

/**
 * Claims the uploads of a batch by one statement, and leaves suspects out. When one row is locked or refused,
 * each is claimed by a statement of its own, so that the row delays no other upload.
 * @param shortCodes of the messages of the batch
 * @returns the claim for each message, which rejects when Postgres fails
 */
export function claimBatch(claimer: Claimer, shortCodes: readonly string[]): readonly Promise<UploadClaim>[] {
  const isAlone = shortCodes.length === 1;
  const limit = isAlone ? {} : { maxLockWaitMs: MAX_LOCK_WAIT_MS };
  const together = claim(claimer, shortCodes, { takeSuspects: false, ...limit });
  return shortCodes.map(async (shortCode, n) => {
    try {
      return (await together)[n] as UploadClaim;
    } catch (error) {
      if (isAlone || !mayBeOfOneRow(error)) throw error;
      const [claimed] = await claim(claimer, [shortCode], { takeSuspects: false });
      return claimed as UploadClaim;
    }
  });
}

/**
 * Claims an upload alone, also when it is a suspect. See `takeSuspects` of claimExecutions.
 * @throws when Postgres fails
 */
export async function claimAlone(claimer: Claimer, shortCode: string): Promise<UploadClaim> {
  const [claimed] = await claim(claimer, [shortCode], { takeSuspects: true });
  return claimed as UploadClaim;
}

async function claim(
  { worker: { db, actor, leaseSeconds, running }, events }: Claimer,
  shortCodes: readonly string[],
  how: { readonly takeSuspects: boolean; readonly maxLockWaitMs?: number },
): Promise<UploadClaim[]> {
  const began = { claimedAt: running.now(), claimBeganAt: performance.now() };
  try {
    const claims = await claimExecutions(db, uploadSubject, {
      keys: [...new Set(shortCodes)],
      actor,
      leaseSeconds,
      ...how,
    });
    // Of several messages for one paste the first stands for it; once that is claimed or ended, the others
    // have nothing left to say.
    return shortCodes.map((shortCode, n) => {
      const own = shortCodes.indexOf(shortCode) === n ? claims.get(shortCode) : undefined;
      return { claim: own ?? { kind: 'ended' }, ...began };
    });
  } catch (error) {
    events.dependencyFailed('claiming uploads', error);
    throw error;
  }
}
