import { DependencyUnavailableError, type UploadMessage } from '@pasteflow/domain';
import {
  claimExecutions,
  isSystemError,
  isTimeout,
  uploadSubject,
  type Claim,
  type ClaimedUpload,
} from '@pasteflow/postgres';
import { Groups } from '@pasteflow/runtime';
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

export interface UploadClaims {
  /** Claims the upload of a message, in one statement with those of other messages. Leaves suspects out. @throws when Postgres fails */
  claim(delivery: UploadDelivery): Promise<UploadClaim>;
  /** Claims an upload by a statement of its own, also when it is a suspect. See `ClaimOptions.takeSuspects`. @throws when Postgres fails */
  claimAlone(delivery: UploadDelivery): Promise<UploadClaim>;
}

/** How long the claim of a group waits for one locked row. Afterwards each is claimed alone, so that the row delays no other upload. */
const MAX_LOCK_WAIT_MS = 250;

/** How long the first message of a group waits for others, in ms: long enough for the batches of receives that end side by side. */
const LINGER_MS = 2;

export interface UploadClaimsOptions {
  readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'leaseSeconds' | 'running'>;
  readonly events: Pick<UploadEvents, 'dependencyFailed'>;
}

/** Messages that arrive within a few ms, or while a claim is under way, are claimed together, whatever their batches (ADR 52). */
export function createUploadClaims({ worker, events }: UploadClaimsOptions): UploadClaims {
  const { db, actor, leaseSeconds, running } = worker;

  async function run(deliveries: readonly UploadDelivery[], takeSuspects: boolean): Promise<UploadClaim[]> {
    const first = new Map(
      deliveries.toReversed().map((delivery) => [delivery.body.shortCode, delivery] as const),
    );
    const began = { claimedAt: running.now(), claimBeganAt: performance.now() };
    try {
      const claims = await claimExecutions(db, uploadSubject, {
        keys: [...first.keys()],
        actor,
        leaseSeconds,
        takeSuspects,
        ...(deliveries.length > 1 && { maxLockWaitMs: MAX_LOCK_WAIT_MS }),
      });
      // Of several messages for one paste the first stands for it; once that is claimed or ended, the others have nothing left to say.
      return deliveries.map((delivery) => {
        const { shortCode } = delivery.body;
        const claim = first.get(shortCode) === delivery ? claims.get(shortCode) : undefined;
        return { claim: claim ?? { kind: 'ended' }, ...began };
      });
    } catch (error) {
      events.dependencyFailed('claiming uploads', error);
      throw error;
    }
  }

  const groups = new Groups<UploadDelivery, UploadClaim>({
    run: (deliveries) => run(deliveries, false),
    canRunAlone: (error) =>
      isTimeout(error) || isSystemError(error) || !(error instanceof DependencyUnavailableError),
    refusal: () => new DependencyUnavailableError('postgres'),
    lingerMs: LINGER_MS,
  });
  return {
    claim: (delivery) => groups.call(delivery),
    claimAlone: async (delivery) => {
      const [claim] = await run([delivery], true);
      return claim as UploadClaim;
    },
  };
}
