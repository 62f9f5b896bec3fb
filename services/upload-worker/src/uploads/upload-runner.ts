import { decideNextStep, type NextStep, type RetryPolicy, type UploadMessage } from '@pasteflow/domain';
import type { ClaimedUpload, UploadOutcome } from '@pasteflow/postgres';
import { runInSpan } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { Acknowledger, Delivery } from '@pasteflow/sqs';
import { Mutex, Semaphore } from 'async-mutex';
import {
  beginExecutionSpan,
  describeEnd,
  endExecutionSpan,
  recordSharedStatement,
} from '../executions/execution-span.ts';
import { PAUSED_DELAY_MS, RETURN_DELAY_MS, type HeldMessages } from '../executions/held-messages.ts';
import type { ReceiveGate } from '../executions/receive-gate.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { claimAlone, claimBatch, type UploadClaim } from './claim-uploads.ts';
import { uploadIds, type UploadEvents } from '../events.ts';
import { confirmStored, type PutContent } from './put-content.ts';
import { UploadSettler } from './settle-uploads.ts';

type UploadDelivery = Delivery<UploadMessage>;

/**
 * What became of a message: its outcome is in Postgres and it is to be acknowledged; or it was returned to
 * its queue; or its upload is a suspect, for which nothing was done.
 */
type MessageEnd = 'acknowledge' | 'returned' | 'suspect';

interface AttemptEnd {
  readonly outcome: UploadOutcome;
  readonly nextStep: NextStep;
}

/**
 * Uploads what messages ask for: claims the uploads of a batch by one statement, and puts, settles and
 * acknowledges each for itself, side by side. A consumer receives again as soon as there are places for a
 * whole batch, which any uploads have left that have ended, of whatever batches.
 */
export class UploadRunner {
  readonly #options;
  readonly #settler: UploadSettler;
  /** Free places. Each consumer that receives has the places for one batch already. */
  readonly #places: Semaphore;
  readonly #batches = new Set<Promise<unknown>>();
  /** Held while this process runs a suspect: one suspect at a time. */
  readonly #alone = new Mutex();
  #putsUnderWay = 0;

  /**
   * @param options.sparePlaces places for uploads beyond those of the consumers, each of which has the places
   * for one batch
   * @param options.settleLingerMs see `UploadSettler`
   */
  constructor(options: {
    readonly worker: WorkerContext;
    readonly messages: Pick<HeldMessages, 'hold' | 'letGo' | 'returnToQueue'>;
    readonly acknowledger: Pick<Acknowledger, 'acknowledge'>;
    readonly pauses: Pick<ReceiveGate, 'close'>;
    readonly retry: RetryPolicy;
    readonly putContent: PutContent;
    readonly store: Pick<ObjectStore, 'findContent' | 'urlOf'>;
    readonly events: UploadEvents;
    readonly sparePlaces: number;
    readonly settleLingerMs: number;
  }) {
    const { worker, events, settleLingerMs, sparePlaces } = options;
    this.#options = options;
    this.#places = new Semaphore(sparePlaces);
    this.#settler = new UploadSettler({
      worker,
      events,
      lingerMs: settleLingerMs,
      isIdle: () => this.#putsUnderWay === 0,
    });
  }

  /**
   * The handler of a batch (`ConsumerGroup`). Resolves when there is room for the next batch,
   * and returns no message.
   */
  async handle(deliveries: readonly UploadDelivery[]): Promise<readonly UploadDelivery[]> {
    const batch = this.#runBatch(deliveries)
      .catch((error: unknown) => this.#options.events.dependencyFailed('handling uploads', error))
      .finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
    await this.#places.acquire(deliveries.length);
    return [];
  }

  /**
   * To be called when nothing more is received. Resolves when every message has been handled, and
   * acknowledged or returned.
   */
  async drain(): Promise<void> {
    await Promise.all(this.#batches);
  }

  async #runBatch(deliveries: readonly UploadDelivery[]): Promise<void> {
    const shortCodes = deliveries.map(({ body }) => body.shortCode);
    const claims = claimBatch(this.#options, shortCodes);
    const ends = deliveries.map((delivery, n) => this.#run(delivery, claims[n] as Promise<UploadClaim>));
    await Promise.all(deliveries.map((delivery, n) => this.#conclude(delivery, n, ends)));
  }

  /** Holds the message until its end, and acknowledges it. Runs a suspect when the others of its batch are over. */
  async #conclude(delivery: UploadDelivery, n: number, ends: readonly Promise<MessageEnd>[]): Promise<void> {
    const { messages, acknowledger } = this.#options;
    messages.hold(delivery.receiptHandle);
    try {
      let end = await ends[n];
      if (end === 'suspect') {
        await Promise.all(ends);
        end = await this.#alone.runExclusive(() => this.#runSuspect(delivery));
      }
      this.#places.release();
      if (end === 'acknowledge') await acknowledger.acknowledge(delivery.message);
    } finally {
      messages.letGo(delivery.receiptHandle);
    }
  }

  async #runSuspect(delivery: UploadDelivery): Promise<MessageEnd> {
    if (this.#options.worker.graceOver.aborted) return await this.#return(delivery, 0);
    return await this.#run(delivery, claimAlone(this.#options, delivery.body.shortCode));
  }

  /** Never throws. */
  async #run(delivery: UploadDelivery, claiming: Promise<UploadClaim>): Promise<MessageEnd> {
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

  /** Put, settle, report. */
  async #attempt(
    upload: ClaimedUpload,
    delivery: UploadDelivery,
    { claimedAt, claimBeganAt }: UploadClaim,
  ): Promise<MessageEnd> {
    const { worker, events } = this.#options;
    const { executionId } = upload;
    const { context } = delivery;
    const span = beginExecutionSpan({
      kind: 'upload',
      context,
      claimBeganAt,
      attributes: {
        'pasteflow.short_code': upload.shortCode,
        'pasteflow.execution_id': executionId,
        'pasteflow.attempt': upload.attempt,
      },
    });
    runInSpan(span, () => events.attemptStarted(upload, context));
    const leaseLost = worker.running.begin(executionId, claimedAt, () =>
      runInSpan(span, () => events.leaseLost(uploadIds(upload, context))),
    );
    const stop = AbortSignal.any([leaseLost, worker.graceOver]);
    this.#putsUnderWay += 1;
    const end = await runInSpan(span, () => this.#put(upload, delivery, stop)).finally(
      () => (this.#putsUnderWay -= 1),
    );

    const settlingBeganAt = performance.now();
    const settled = await this.#settler.settle({ executionId, ...end });
    worker.running.end(executionId);

    runInSpan(span, () => {
      recordSharedStatement('settle', settlingBeganAt);
      if (settled === null) events.settlementLost(uploadIds(upload, context));
      else events.attemptEnded(upload, context, { ...end, status: settled.status });
    });
    describeEnd(span, settled === null ? null : end);
    endExecutionSpan(span);
    if (settled === null) return await this.#return(delivery, RETURN_DELAY_MS);
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
}
