import type { JobServices } from '@pasteflow/jobs';
import { claimExecutions, jobSubject, type Claim, type ClaimedJob } from '@pasteflow/postgres';
import { RETURN_DELAY_MS, type HeldMessages } from '../executions/held-messages.ts';
import { JobAttempt, type JobAttemptOptions, type JobDelivery } from './job-attempt.ts';

export interface JobRunnerOptions extends Omit<JobAttemptOptions, 'services'> {
  readonly messages: HeldMessages;
  /** For the work that one message stands for. */
  readonly servicesFor: (delivery: JobDelivery) => JobServices;
}

/** Handles messages one by one: claims the job that a message stands for, has it attempted, and acts on what follows. Never throws. */
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
    if (worker.graceOver.aborted) return 0; // the last long poll has brought it: it is another worker's
    const claimedAt = worker.running.now();
    const claimBeganAt = performance.now();
    const claim = await this.#claim(delivery);
    switch (claim.kind) {
      case 'claimed': {
        const options = { ...this.#options, services: servicesFor(delivery) };
        const nextStep = await new JobAttempt(claim.execution, delivery, options).run(
          claimedAt,
          claimBeganAt,
        );
        if (nextStep === null) return RETURN_DELAY_MS;
        return nextStep.kind === 'retry' ? nextStep.delayMs : null;
      }
      case 'not_now':
        return claim.waitMs;
      case 'ended':
        return null;
      default:
        return claim satisfies never;
    }
  }

  async #claim({ body: { jobId } }: JobDelivery): Promise<Exclude<Claim<ClaimedJob>, { kind: 'suspect' }>> {
    const { worker, events } = this.#options;
    const { db, actor, leaseSeconds, gate } = worker;
    try {
      const claims = await claimExecutions(db, jobSubject, { keys: [jobId], actor, leaseSeconds });
      const claim = claims.get(jobId) ?? { kind: 'ended' };
      return claim.kind === 'suspect' ? { kind: 'not_now', waitMs: RETURN_DELAY_MS } : claim;
    } catch (error) {
      events.dependencyFailed('claiming a job', error);
      gate.close();
      return { kind: 'not_now', waitMs: RETURN_DELAY_MS };
    }
  }
}
