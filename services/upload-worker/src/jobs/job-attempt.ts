import type { Span } from '@opentelemetry/api';
import {
  decideNextStep,
  defaultHouse,
  storedReason,
  type JobMessage,
  type JobState,
  type NextStep,
} from '@pasteflow/domain';
import type { JobServices } from '@pasteflow/jobs';
import {
  countStops,
  createAsset,
  jobSubject,
  settleExecutions,
  wasCancelled,
  writeProgress,
  type ClaimedJob,
  type JobSettlement,
  type Settled,
} from '@pasteflow/postgres';
import { runInSpan } from '@pasteflow/runtime';
import type { Delivery } from '@pasteflow/sqs';
import { beginExecutionSpan, describeEnd, endExecutionSpan } from '../executions/execution-span.ts';
import type { LeaseLoss } from '../executions/running-executions.ts';
import { MAX_LOCK_WAIT_MS, maySettleAgain } from '../executions/settle-again.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { jobIds, type JobEvents } from '../events.ts';
import { Progress } from './progress.ts';
import { runJob, type JobOutcome } from './run-job.ts';

export type JobDelivery = Delivery<JobMessage>;

type SettledOutcome = Exclude<JobOutcome, { kind: 'lost' }>;

/** One attempt at a claimed job, from its first heartbeat to its settlement. */
export class JobAttempt {
  readonly #job: ClaimedJob;
  readonly #delivery: JobDelivery;
  readonly #worker: WorkerContext;
  readonly #services: JobServices;
  readonly #events: JobEvents;
  readonly #progress: Progress;
  #hasBegun = false;

  constructor(
    job: ClaimedJob,
    delivery: JobDelivery,
    {
      worker,
      services,
      events,
    }: { readonly worker: WorkerContext; readonly services: JobServices; readonly events: JobEvents },
  ) {
    this.#job = job;
    this.#delivery = delivery;
    this.#worker = worker;
    this.#services = services;
    this.#events = events;
    const { executionId, jobId } = job;
    this.#progress = new Progress({
      write: (percent, message) => writeProgress(worker.db, { executionId, jobId, percent, message }),
      onIgnored: () => events.progressIgnored(job, delivery.context),
      onError: (error) => events.dependencyFailed('writing progress', error),
    });
  }

  /**
   * @param claimedAt `running.now()` before the claim
   * @param claimBeganAt the same by performance.now(), for the trace
   * @returns what follows; null when the attempt was lost and changed nothing
   */
  async run(claimedAt: number, claimBeganAt: number): Promise<NextStep | null> {
    const span = this.#beginSpan(claimBeganAt);
    return await runInSpan(span, () => this.#run(claimedAt, span));
  }

  async #run(claimedAt: number, span: Span): Promise<NextStep | null> {
    const worker = this.#worker;
    const events = this.#events;
    const { executionId } = this.#job;
    const { context } = this.#delivery;
    let loss: LeaseLoss | null = null;
    const lost = worker.running.begin(executionId, claimedAt, (how) => {
      loss = how;
    });
    try {
      events.attemptStarted(this.#job, context);
      const outcome = await this.#work(lost);
      this.#progress.end();
      const seconds = (worker.running.now() - claimedAt) / 1000;
      const nextStep = outcome.kind === 'lost' ? null : await this.#settle(outcome, seconds, span);
      if (nextStep === null) {
        await this.#reportLoss(loss);
        describeEnd(span, null);
      }
      return nextStep;
    } finally {
      worker.running.end(executionId); // or its lease would be renewed for ever
      endExecutionSpan(span);
    }
  }

  /**
   * Another process has ended the execution: on behalf of somebody who cancelled the job, or because this
   * worker seemed to be dead.
   */
  async #reportLoss(loss: LeaseLoss | null): Promise<void> {
    const events = this.#events;
    const ids = jobIds(this.#job, this.#delivery.context);
    if (await this.#isCancelled(loss)) return events.attemptCancelled(this.#job, this.#delivery.context);
    if (loss !== null) events.leaseLost(ids);
    events.settlementLost(ids);
  }

  /** Not asked when Postgres does not answer, and when the worker has no time left to stop. */
  async #isCancelled(loss: LeaseLoss | null): Promise<boolean> {
    const worker = this.#worker;
    if (loss === 'expired' || worker.graceOver.aborted) return false;
    return await wasCancelled(worker.db, this.#job.executionId).catch(() => false);
  }

  #beginSpan(claimBeganAt: number): Span {
    const { jobId, jobType, executionId, attempt } = this.#job;
    const attributes = {
      'pasteflow.job_id': jobId,
      'pasteflow.job_type': jobType,
      'pasteflow.execution_id': executionId,
      'pasteflow.attempt': attempt,
    };
    const { context } = this.#delivery;
    return beginExecutionSpan({ kind: 'job', context, claimBeganAt, attributes });
  }

  async #work(lost: AbortSignal): Promise<JobOutcome> {
    const { jobId, userId, executionId, expiryRules } = this.#job;
    const services = this.#services;
    return await runJob(this.#worker, this.#job, {
      jobId,
      userId,
      executionId,
      house: { ...defaultHouse, expiry: expiryRules ?? defaultHouse.expiry },
      services,
      logger: this.#worker.logger.child(jobIds(this.#job, this.#delivery.context)),
      progress: (percent, message) => {
        this.#hasBegun = true;
        this.#progress.report(percent, message);
      },
      createAsset: async (asset) => {
        this.#hasBegun = true;
        const url = services.store.urlOf(asset.storagePath);
        await createAsset(services.db, { executionId, asset: { ...asset, jobId, userId, url } });
      },
      lost,
      hasBegun: () => this.#hasBegun,
      onAbandoned: () => this.#events.attemptAbandoned(this.#job, this.#delivery.context),
    });
  }

  /** @returns what follows; null when the settlement did not count */
  async #settle(outcome: SettledOutcome, seconds: number, span: Span): Promise<NextStep | null> {
    const worker = this.#worker;
    const events = this.#events;
    if (outcome.kind === 'postponed') worker.gate.close();
    const settlement = this.#settlementOf(
      outcome.kind === 'interrupted' ? { ...outcome, stops: await this.#countStops() } : outcome,
    );
    const counted = await this.#settleWhileLeased(settlement);
    if (counted === null) return null;
    const { nextStep } = settlement;
    const end = { outcome: settlement.outcome, nextStep, status: counted.status, seconds };
    events.attemptEnded(this.#job, this.#delivery.context, end);
    describeEnd(span, settlement);
    return nextStep;
  }

  /** With this one. When Postgres does not say it, the job may be stopped once more. */
  async #countStops(): Promise<number> {
    const worker = this.#worker;
    const events = this.#events;
    try {
      return 1 + (await countStops(worker.db, this.#job.jobId));
    } catch (error) {
      events.dependencyFailed('counting the stops of a job', error);
      return 0;
    }
  }

  /** The last progress goes before the settlement: once the execution has ended, it would be ignored. */
  async #settleWhileLeased(settlement: JobSettlement): Promise<Settled<JobState> | null> {
    const worker = this.#worker;
    const events = this.#events;
    const { executionId } = settlement;
    const by = { actor: worker.actor, dispatched: true, maxLockWaitMs: MAX_LOCK_WAIT_MS };
    for (let failures = 1; ; failures++) {
      try {
        await this.#progress.flush();
        return (await settleExecutions(worker.db, jobSubject, [settlement], by)).get(executionId) ?? null;
      } catch (error) {
        events.dependencyFailed('settling a job', error);
        if (!(await maySettleAgain(worker, executionId, { error, failures }))) return null;
      }
    }
  }

  #settlementOf(outcome: SettledOutcome): JobSettlement {
    const { executionId } = this.#job;
    if (outcome.kind !== 'ended') {
      const nextStep = decideNextStep(outcome, this.#job, this.#worker.config.jobRetry, Math.random());
      return { executionId, outcome, nextStep, ending: null };
    }
    const { ending } = outcome;
    const error = ending.status === 'completed' ? null : ending.error;
    const stored = { status: ending.status, result: ending.result, errorMessage: error };
    if (ending.status !== 'failed')
      return { executionId, outcome: { kind: 'succeeded' }, nextStep: { kind: 'done' }, ending: stored };
    const nextStep = { kind: 'give_up', reason: ending.error } as const;
    const reason = storedReason('work_failed', ending.error);
    return { executionId, outcome: { kind: 'failed', error: reason }, nextStep, ending: stored };
  }
}
