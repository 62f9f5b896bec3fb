import type { JobMessage } from '@pasteflow/domain';
import type { JobServices } from '@pasteflow/jobs';
import { claimJob, type ClaimedJob, type JobClaim } from '@pasteflow/postgres';
import { PAUSED_DELAY_MS, RETURN_DELAY_MS } from '../executions/held-messages.ts';
import type { BatchHandler, HandledQueue } from '../executions/pipeline.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import type { JobEvents } from '../events.ts';
import { JobAttempt, type JobDelivery } from './job-attempt.ts';

/**
 * Handles messages one by one: claims the job whose turn it is, has it attempted, and acts on what follows. A
 * message says that a job is due, and the claim decides which. Never throws.
 * @param servicesFor for the work that one message stands for
 */
export function createJobHandler(
  worker: WorkerContext,
  { messages, pauses }: HandledQueue,
  events: JobEvents,
  servicesFor: (delivery: JobDelivery) => JobServices,
): BatchHandler<JobMessage> {
  /** @returns after how long the message is to come back, in ms; null: never */
  async function handle(delivery: JobDelivery): Promise<number | null> {
    if (worker.stopping.aborted) return 0; // the last long poll has brought it: it is another worker's
    const claimedAt = worker.running.now();
    const claimBeganAt = performance.now();
    const claim = await claimFor(delivery);
    switch (claim.kind) {
      case 'claimed': {
        const own = deliveryOf(claim.execution, delivery);
        const attempt = new JobAttempt(claim.execution, own, { worker, services: servicesFor(own), events });
        const nextStep = await attempt.run(claimedAt, claimBeganAt);
        if (nextStep === null) return RETURN_DELAY_MS;
        return nextStep.kind === 'retry' ? nextStep.delayMs : null;
      }
      case 'not_now':
        return claim.waitMs;
      case 'paused':
        pauses.close();
        return PAUSED_DELAY_MS;
      case 'ended':
        return null;
      default:
        return claim satisfies never;
    }
  }

  async function claimFor({ body: { jobId } }: JobDelivery): Promise<JobClaim> {
    const { db, actor, leaseSeconds, gate } = worker;
    try {
      return await claimJob(db, { jobId, actor, leaseSeconds });
    } catch (error) {
      events.dependencyFailed('claiming a job', error);
      gate.close();
      return { kind: 'not_now', waitMs: RETURN_DELAY_MS };
    }
  }

  return {
    handle: (deliveries) =>
      messages.whileHeld(deliveries, async () => {
        const done: JobDelivery[] = [];
        for (const delivery of deliveries) {
          const waitMs = await handle(delivery);
          if (waitMs === null) done.push(delivery);
          else await messages.returnToQueue(delivery, waitMs);
        }
        return done;
      }),
  };
}

/** The request of the message that named another job is not the request of this job. */
function deliveryOf({ jobId }: ClaimedJob, delivery: JobDelivery): JobDelivery {
  return delivery.body.jobId === jobId ? delivery : { ...delivery, body: { jobId }, context: {} };
}
