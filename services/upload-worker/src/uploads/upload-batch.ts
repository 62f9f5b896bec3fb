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
import type { Delivery } from '@pasteflow/sqs';
import {
  beginExecutionSpan,
  describeEnd,
  endExecutionSpan,
  recordSharedStatement,
} from '../executions/execution-span.ts';
import { RETURN_DELAY_MS, type HeldMessages } from '../executions/held-messages.ts';
import { settleWithRetry } from '../executions/settle-with-retry.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { idsOf, type UploadEvents } from './events.ts';
import { handleInGroups } from './handle-in-groups.ts';
import type { PutContent } from './put-content.ts';

type UploadDelivery = Delivery<UploadMessage>;

export interface UploadBatchOptions {
  readonly worker: WorkerContext;
  readonly messages: HeldMessages;
  readonly retry: RetryPolicy;
  readonly putContent: PutContent;
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
    const { worker, putContent, retry, settleLingerMs, events } = this.#options;
    const { running, gate, graceOver } = worker;
    const claimedAt = running.now();
    const { attempts, done } = await this.#claim(deliveries);
    const puts = attempts.map(async ({ delivery, upload, span }): Promise<EndedAttempt> => {
      const { contentBytes } = delivery.body;
      const inline = contentBytes === undefined ? null : Buffer.from(contentBytes, 'base64');
      const signal = running.begin(upload.executionId, claimedAt, () =>
        runInSpan(span, () => events.leaseLost(idsOf(upload, delivery.context))),
      );
      const outcome = await runInSpan(span, () =>
        putContent(upload, inline, AbortSignal.any([signal, graceOver])),
      );
      if (outcome.kind === 'postponed') gate.close();
      return {
        delivery,
        upload,
        span,
        outcome,
        nextStep: decideNextStep(outcome, upload, retry, Math.random()),
      };
    });
    await handleInGroups(puts, settleLingerMs, async (group) => {
      done.push(...(await this.#settle(group)));
    });
    return done;
  }

  /** Of several messages for one paste the first stands for it; once that is claimed or ended, the others have nothing left to say. */
  async #claim(
    deliveries: readonly UploadDelivery[],
  ): Promise<{ attempts: readonly Attempt[]; done: UploadDelivery[] }> {
    const { worker, events, messages } = this.#options;
    const { db, gate, actor, leaseSeconds } = worker;
    const attempts: Attempt[] = [];
    const done: UploadDelivery[] = [];
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
    return { attempts, done };
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
        settle: (settlements) =>
          settleExecutions(db, uploadSubject, settlements, { actor, dispatched: true }),
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
