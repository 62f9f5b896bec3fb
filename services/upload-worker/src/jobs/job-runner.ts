import type { JobServices } from '@pasteflow/jobs';
import { claimJob, type ClaimedJob, type JobClaim } from '@pasteflow/postgres';
import { PAUSED_DELAY_MS, RETURN_DELAY_MS, type HeldMessages } from '../executions/held-messages.ts';
import type { ReceiveGate } from '../executions/receive-gate.ts';
import { JobAttempt, type JobAttemptOptions, type JobDelivery } from './job-attempt.ts';

export interface JobRunnerOptions extends Omit<JobAttemptOptions, 'services'> {
  readonly messages: HeldMessages;
  readonly pauses: Pick<ReceiveGate, 'close'>;
  /** For the work that one message stands for. */
  readonly servicesFor: (delivery: JobDelivery) => JobServices;
}

/**
 * Handles messages one by one: claims the job whose turn it is, has it attempted, and acts on what follows. A
 * message says that a job is due, and the claim decides which. Never throws.
 */
export class JobRunner {
  readonly #options: JobRunnerOptions;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** @returns what is to be acknowledged: the outcome is in Postgres, and no attempt follows */
  handle(deliveries: readonly JobDelivery[]): Promise<readonly JobDelivery[]> {
    return this.#options.messages.whileHeld(deliveries, async () => {
      const done: JobDelivery[] = [];
      for (const delivery of deliveries) {
        const waitMs = await this.#handle(delivery);
        if (waitMs === null) done.push(delivery);
        else await this.#options.messages.returnToQueue(delivery, waitMs);
      }
      return done;
    });
  }

  /** @returns after how long the message is to come back, in ms; null: never */
  async #handle(delivery: JobDelivery): Promise<number | null> {
    const { worker, servicesFor } = this.#options;
    if (worker.stopping.aborted) return 0; // the last long poll has brought it: it is another worker's
    const claimedAt = worker.running.now();
    const claimBeganAt = performance.now();
    const claim = await this.#claim(delivery);
    switch (claim.kind) {
      case 'claimed': {
        const own = deliveryOf(claim.execution, delivery);
        const options = { ...this.#options, services: servicesFor(own) };
        const nextStep = await new JobAttempt(claim.execution, own, options).run(claimedAt, claimBeganAt);
        if (nextStep === null) return RETURN_DELAY_MS;
        return nextStep.kind === 'retry' ? nextStep.delayMs : null;
      }
      case 'not_now':
        return claim.waitMs;
      case 'paused':
        this.#options.pauses.close();
        return PAUSED_DELAY_MS;
      case 'ended':
        return null;
      default:
        return claim satisfies never;
    }
  }

  async #claim({ body: { jobId } }: JobDelivery): Promise<JobClaim> {
    const { worker, events } = this.#options;
    const { db, actor, leaseSeconds, gate } = worker;
    try {
      return await claimJob(db, { jobId, actor, leaseSeconds });
    } catch (error) {
      events.dependencyFailed('claiming a job', error);
      gate.close();
      return { kind: 'not_now', waitMs: RETURN_DELAY_MS };
    }
  }
}

/** The request of the message that named another job is not the request of this job. */
function deliveryOf({ jobId }: ClaimedJob, delivery: JobDelivery): JobDelivery {
  return delivery.body.jobId === jobId ? delivery : { ...delivery, body: { jobId }, context: {} };
}
