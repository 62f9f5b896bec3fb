import type { UploadMessage } from '@pasteflow/domain';
import {
  claimExecutions,
  mayBeOfOneRow,
  uploadSubject,
  type Claim,
  type ClaimedUpload,
} from '@pasteflow/postgres';
import type { Delivery } from '@pasteflow/sqs';
import type { WorkerContext } from '../executions/worker-context.ts';
import type { UploadEvents } from './events.ts';

export type UploadDelivery = Delivery<UploadMessage>;

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
 * @returns the claim of each delivery, which rejects when Postgres fails
 */
export function claimBatch(
  claimer: Claimer,
  deliveries: readonly UploadDelivery[],
): readonly Promise<UploadClaim>[] {
  const isAlone = deliveries.length === 1;
  const limit = isAlone ? {} : { maxLockWaitMs: MAX_LOCK_WAIT_MS };
  const together = claim(claimer, deliveries, { takeSuspects: false, ...limit });
  return deliveries.map(async (delivery, n) => {
    try {
      return (await together)[n] as UploadClaim;
    } catch (error) {
      if (isAlone || !mayBeOfOneRow(error)) throw error;
      const [claimed] = await claim(claimer, [delivery], { takeSuspects: false });
      return claimed as UploadClaim;
    }
  });
}

/**
 * Claims an upload alone, also when it is a suspect. See `ClaimOptions.takeSuspects`.
 * @throws when Postgres fails
 */
export async function claimAlone(claimer: Claimer, delivery: UploadDelivery): Promise<UploadClaim> {
  const [claimed] = await claim(claimer, [delivery], { takeSuspects: true });
  return claimed as UploadClaim;
}

async function claim(
  { worker: { db, actor, leaseSeconds, running }, events }: Claimer,
  deliveries: readonly UploadDelivery[],
  how: { readonly takeSuspects: boolean; readonly maxLockWaitMs?: number },
): Promise<UploadClaim[]> {
  const first = new Map(
    deliveries.toReversed().map((delivery) => [delivery.body.shortCode, delivery] as const),
  );
  const began = { claimedAt: running.now(), claimBeganAt: performance.now() };
  try {
    const claims = await claimExecutions(db, uploadSubject, {
      keys: [...first.keys()],
      actor,
      leaseSeconds,
      ...how,
    });
    // Of several messages for one paste the first stands for it; once that is claimed or ended, the others
    // have nothing left to say.
    return deliveries.map((delivery) => {
      const { shortCode } = delivery.body;
      const own = first.get(shortCode) === delivery ? claims.get(shortCode) : undefined;
      return { claim: own ?? { kind: 'ended' }, ...began };
    });
  } catch (error) {
    events.dependencyFailed('claiming uploads', error);
    throw error;
  }
}
