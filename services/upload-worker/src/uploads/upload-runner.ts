import type { Span } from '@opentelemetry/api';
import { decideNextStep, type NextStep, type RetryPolicy } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import { runInSpan } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import {
  beginExecutionSpan,
  describeEnd,
  endExecutionSpan,
  recordSharedStatement,
} from '../executions/execution-span.ts';
import { PAUSED_DELAY_MS, RETURN_DELAY_MS, type HeldMessages } from '../executions/held-messages.ts';
import type { ReceiveGate } from '../executions/receive-gate.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { claimAlone, claimBatch, type UploadClaim, type UploadDelivery } from './claim-uploads.ts';
import { idsOf, type UploadEvents } from './events.ts';
import { confirmStored, type PutContent } from './put-content.ts';
import { UploadSettler } from './settle-uploads.ts';

export interface UploadRunnerOptions {
  readonly worker: WorkerContext;
  readonly messages: Pick<HeldMessages, 'returnToQueue'>;
  readonly pauses: Pick<ReceiveGate, 'close'>;
  readonly retry: RetryPolicy;
  readonly putContent: PutContent;
  readonly store: Pick<ObjectStore, 'findContent' | 'urlOf'>;
  readonly events: UploadEvents;
  /** See `UploadSettlerOptions.lingerMs`. */
  readonly settleLingerMs: number;
}

/**
 * What became of a message: its outcome is in Postgres and it is to be acknowledged; or it was returned to
 * its queue; or its upload is a suspect, for which nothing was done.
 */
export type MessageEnd = 'acknowledge' | 'returned' | 'suspect';

interface AttemptEnd {
  readonly outcome: UploadOutcome;
  readonly nextStep: NextStep;
}

/**
 * Uploads what messages ask for: claims the uploads of a batch, and puts and settles each for itself, side by
 * side.
 */
export class UploadRunner {
  readonly #options: UploadRunnerOptions;
  readonly #settler: UploadSettler;
  #putsUnderWay = 0;

  constructor(options: UploadRunnerOptions) {
    const { worker, events, settleLingerMs } = options;
    this.#options = options;
    this.#settler = new UploadSettler({
      worker,
      events,
      lingerMs: settleLingerMs,
      isIdle: () => this.#putsUnderWay === 0,
    });
  }

  /** @returns what becomes of each message. Never rejects. */
  runBatch(deliveries: readonly UploadDelivery[]): readonly Promise<MessageEnd>[] {
    const claims = claimBatch(this.#options, deliveries);
    return deliveries.map((delivery, n) => this.#handle(delivery, claims[n] as Promise<UploadClaim>));
  }

  /** The same for an upload that may be a suspect. Never throws. */
  async runAlone(delivery: UploadDelivery): Promise<MessageEnd> {
    if (!this.#options.worker.graceOver.aborted)
      return await this.#handle(delivery, claimAlone(this.#options, delivery));
    return await this.#return(delivery, 0);
  }

  async #handle(delivery: UploadDelivery, claiming: Promise<UploadClaim>): Promise<MessageEnd> {
    let claimed: UploadClaim;
    try {
      claimed = await claiming;
    } catch {
      this.#options.worker.gate.close();
      return await this.#return(delivery, RETURN_DELAY_MS);
    }
    const { claim } = claimed;
    switch (claim.kind) {
      case 'claimed':
        return await this.#attempt(claim.execution, delivery, claimed);
      case 'not_now':
        return await this.#return(delivery, claim.waitMs);
      case 'paused':
        this.#options.pauses.close();
        return await this.#return(delivery, PAUSED_DELAY_MS);
      case 'suspect':
        return 'suspect';
      case 'ended':
        return 'acknowledge';
      default:
        return claim satisfies never;
    }
  }

  async #return(delivery: UploadDelivery, waitMs: number): Promise<MessageEnd> {
    await this.#options.messages.returnToQueue(delivery, waitMs);
    return 'returned';
  }

  async #attempt(
    upload: ClaimedUpload,
    delivery: UploadDelivery,
    { claimedAt, claimBeganAt }: UploadClaim,
  ): Promise<MessageEnd> {
    const { worker, events } = this.#options;
    const span = this.#beginSpan(upload, delivery, claimBeganAt);
    runInSpan(span, () => events.attemptStarted(upload, delivery.context));
    const leaseLost = worker.running.begin(upload.executionId, claimedAt, () =>
      runInSpan(span, () => events.leaseLost(idsOf(upload, delivery.context))),
    );
    const stop = AbortSignal.any([leaseLost, worker.graceOver]);
    this.#putsUnderWay += 1;
    const end = await runInSpan(span, () => this.#put(upload, delivery, stop)).finally(
      () => (this.#putsUnderWay -= 1),
    );
    const counted = await this.#settleAndReport(upload, delivery, { ...end, span });
    if (!counted) return await this.#return(delivery, RETURN_DELAY_MS);
    if (end.nextStep.kind === 'retry') return await this.#return(delivery, end.nextStep.delayMs);
    return 'acknowledge';
  }

  async #put(
    upload: ClaimedUpload,
    { body: { contentBytes } }: UploadDelivery,
    signal: AbortSignal,
  ): Promise<AttemptEnd> {
    const { worker, pauses, putContent, store, retry } = this.#options;
    const inline = contentBytes === undefined ? null : Buffer.from(contentBytes, 'base64');
    const decide = (outcome: UploadOutcome): AttemptEnd => ({
      outcome,
      nextStep: decideNextStep(outcome, upload, retry, Math.random()),
    });
    const put = decide(await putContent(upload, inline, signal));
    const end =
      put.outcome.kind === 'failed' && put.nextStep.kind === 'give_up'
        ? decide(await confirmStored(store, upload, put.outcome, signal))
        : put;
    if (end.outcome.kind === 'postponed') {
      worker.gate.close();
      pauses.close();
    }
    return end;
  }

  /** @returns whether the settlement counted */
  async #settleAndReport(
    upload: ClaimedUpload,
    { context }: UploadDelivery,
    { outcome, nextStep, span }: AttemptEnd & { readonly span: Span },
  ): Promise<boolean> {
    const { worker, events } = this.#options;
    const { executionId } = upload;
    const settlingBeganAt = performance.now();
    const settled = await this.#settler.settle({ executionId, outcome, nextStep });
    worker.running.end(executionId);
    runInSpan(span, () => {
      recordSharedStatement('settle', settlingBeganAt);
      if (settled === null) events.settlementLost(idsOf(upload, context));
      else events.attemptEnded(upload, context, { outcome, nextStep, status: settled.status });
    });
    describeEnd(span, settled === null ? null : { outcome, nextStep });
    endExecutionSpan(span);
    return settled !== null;
  }

  #beginSpan(upload: ClaimedUpload, { context }: UploadDelivery, claimBeganAt: number): Span {
    const { shortCode, executionId, attempt } = upload;
    const attributes = {
      'pasteflow.short_code': shortCode,
      'pasteflow.execution_id': executionId,
      'pasteflow.attempt': attempt,
    };
    return beginExecutionSpan({ kind: 'upload', context, claimBeganAt, attributes });
  }
}
