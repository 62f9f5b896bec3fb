import type { Span } from '@opentelemetry/api';
import { decideNextStep, type NextStep, type RetryPolicy, type UploadMessage } from '@pasteflow/domain';
import {
  claimExecutions,
  settleExecutions,
  uploadSubject,
  type ClaimedUpload,
  type UploadOutcome,
} from '@pasteflow/postgres';
import { runInSpan } from '@pasteflow/runtime';
import type { ObjectStore } from '@pasteflow/s3';
import type { Delivery } from '@pasteflow/sqs';
import type { Mutex } from 'async-mutex';
import {
  beginExecutionSpan,
  describeEnd,
  endExecutionSpan,
  recordSharedStatement,
} from '../executions/execution-span.ts';
import { RETURN_DELAY_MS, type HeldMessages } from '../executions/held-messages.ts';
import { settleWithRetry } from '../executions/settle-with-retry.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { confirmStored } from './confirm-stored.ts';
import { idsOf, type UploadEvents } from './events.ts';
import { handleInGroups } from './handle-in-groups.ts';
import type { PutContent } from './put-content.ts';

type UploadDelivery = Delivery<UploadMessage>;

export interface UploadBatchOptions {
  readonly worker: WorkerContext;
  readonly messages: HeldMessages;
  readonly retry: RetryPolicy;
  readonly putContent: PutContent;
  readonly store: Pick<ObjectStore, 'holds' | 'urlOf'>;
  /** Held while this process runs a suspect: one suspect at a time. */
  readonly alone: Mutex;
  readonly events: UploadEvents;
  /** See handleInGroups. */
  readonly settleLingerMs: number;
}

interface Attempt {
  readonly delivery: UploadDelivery;
  readonly upload: ClaimedUpload;
  readonly span: Span;
}

interface EndedAttempt extends Attempt {
  readonly outcome: UploadOutcome;
  readonly nextStep: NextStep;
}

/**
 * Handles up to 10 messages: one statement claims what is due, the puts run side by side, a statement a group settles what has ended,
 * and what is to be acknowledged is returned. Never throws.
 */
export class UploadBatch {
  readonly #options: UploadBatchOptions;

  constructor(options: UploadBatchOptions) {
    this.#options = options;
  }

  handle(deliveries: readonly UploadDelivery[]): Promise<readonly UploadDelivery[]> {
    return this.#options.messages.whileHeld(deliveries, () => this.#handle(deliveries));
  }

  async #handle(deliveries: readonly UploadDelivery[]): Promise<readonly UploadDelivery[]> {
    const { done, suspects } = await this.#run(deliveries, false);
    for (const suspect of suspects)
      done.push(...(await this.#options.alone.runExclusive(() => this.#runAlone(suspect))));
    return done;
  }

  /** Claims a suspect as the only upload of its batch: see `ClaimOptions.takeSuspects`. */
  async #runAlone(suspect: UploadDelivery): Promise<readonly UploadDelivery[]> {
    const { worker, messages } = this.#options;
    if (!worker.graceOver.aborted) return (await this.#run([suspect], true)).done;
    await messages.returnToQueue(suspect, 0);
    return [];
  }

  async #run(
    deliveries: readonly UploadDelivery[],
    takeSuspects: boolean,
  ): Promise<{ readonly done: UploadDelivery[]; readonly suspects: readonly UploadDelivery[] }> {
    const { worker, settleLingerMs, events } = this.#options;
    const { running } = worker;
    const claimedAt = running.now();
    const { attempts, done, suspects } = await this.#claim(deliveries, takeSuspects);
    const puts = attempts.map(async ({ delivery, upload, span }): Promise<EndedAttempt> => {
      const signal = running.begin(upload.executionId, claimedAt, () =>
        runInSpan(span, () => events.leaseLost(idsOf(upload, delivery.context))),
      );
      const end = await runInSpan(span, () => this.#put(upload, delivery, signal));
      return { delivery, upload, span, ...end };
    });
    await handleInGroups(puts, settleLingerMs, async (group) => {
      done.push(...(await this.#settle(group)));
    });
    return { done, suspects };
  }

  async #put(
    upload: ClaimedUpload,
    { body: { contentBytes } }: UploadDelivery,
    leaseLost: AbortSignal,
  ): Promise<Pick<EndedAttempt, 'outcome' | 'nextStep'>> {
    const { worker, putContent, retry, store } = this.#options;
    const signal = AbortSignal.any([leaseLost, worker.graceOver]);
    const inline = contentBytes === undefined ? null : Buffer.from(contentBytes, 'base64');
    const decide = (outcome: UploadOutcome) => ({
      outcome,
      nextStep: decideNextStep(outcome, upload, retry, Math.random()),
    });
    const put = decide(await putContent(upload, inline, signal));
    const { outcome, nextStep } =
      put.outcome.kind === 'failed' && put.nextStep.kind === 'give_up'
        ? decide(await confirmStored(store, upload, put.outcome, signal))
        : put;
    if (outcome.kind === 'postponed') worker.gate.close();
    return { outcome, nextStep };
  }

  /** Of several messages for one paste the first stands for it; once that is claimed or ended, the others have nothing left to say. */
  async #claim(
    deliveries: readonly UploadDelivery[],
    takeSuspects: boolean,
  ): Promise<{ attempts: readonly Attempt[]; done: UploadDelivery[]; suspects: UploadDelivery[] }> {
    const { worker, events, messages } = this.#options;
    const { db, gate, actor, leaseSeconds } = worker;
    const attempts: Attempt[] = [];
    const done: UploadDelivery[] = [];
    const suspects: UploadDelivery[] = [];
    const first = new Map<string, UploadDelivery>();
    const others: UploadDelivery[] = [];
    for (const delivery of deliveries) {
      if (first.has(delivery.body.shortCode)) others.push(delivery);
      else first.set(delivery.body.shortCode, delivery);
    }
    const claimBeganAt = performance.now();
    try {
      const claims = await claimExecutions(db, uploadSubject, {
        keys: [...first.keys()],
        actor,
        leaseSeconds,
        takeSuspects,
      });
      done.push(...others);
      for (const [shortCode, delivery] of first) {
        const claim = claims.get(shortCode) ?? { kind: 'ended' };
        switch (claim.kind) {
          case 'claimed': {
            const upload = claim.execution;
            const span = this.#beginSpan(upload, delivery, claimBeganAt);
            runInSpan(span, () => events.attemptStarted(upload, delivery.context));
            attempts.push({ delivery, upload, span });
            break;
          }
          case 'not_now':
            await messages.returnToQueue(delivery, claim.waitMs);
            break;
          case 'suspect':
            suspects.push(delivery);
            break;
          case 'ended':
            done.push(delivery);
            break;
          default:
            claim satisfies never;
        }
      }
    } catch (error) {
      events.dependencyFailed('claiming uploads', error);
      gate.close();
      for (const delivery of deliveries) await messages.returnToQueue(delivery, RETURN_DELAY_MS);
    }
    return { attempts, done, suspects };
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

  /** @returns what is to be acknowledged */
  async #settle(ended: readonly EndedAttempt[]): Promise<readonly UploadDelivery[]> {
    const { worker, events, messages } = this.#options;
    const { db, actor, running } = worker;
    const settlingBeganAt = performance.now();
    const settled = await settleWithRetry(
      worker,
      ended.map(({ upload, outcome, nextStep }) => ({ executionId: upload.executionId, outcome, nextStep })),
      {
        settle: (settlements, limits) =>
          settleExecutions(db, uploadSubject, settlements, { actor, dispatched: true, ...limits }),
        onError: (error) => events.dependencyFailed('settling uploads', error),
      },
    );
    for (const { upload } of ended) running.end(upload.executionId);
    const done: UploadDelivery[] = [];
    for (const { delivery, upload, span, outcome, nextStep } of ended) {
      const counted = settled.get(upload.executionId);
      runInSpan(span, () => {
        recordSharedStatement('settle', settlingBeganAt);
        if (counted !== undefined)
          events.attemptEnded(upload, delivery.context, { outcome, nextStep, status: counted.status });
        else events.settlementLost(idsOf(upload, delivery.context));
      });
      describeEnd(span, counted === undefined ? null : { outcome, nextStep });
      endExecutionSpan(span);
      if (counted === undefined) {
        await messages.returnToQueue(delivery, RETURN_DELAY_MS);
        continue;
      }
      if (nextStep.kind === 'retry') await messages.returnToQueue(delivery, nextStep.delayMs);
      else done.push(delivery);
    }
    return done;
  }
}
