import { decideNextStep, webhookRetryPolicy, type WebhookDeliveryState } from '@pasteflow/domain';
import {
  deliverySubject,
  settleExecutions,
  type ClaimedDelivery,
  type DeliverySettlement,
  type Settled,
} from '@pasteflow/postgres';
import { runInSpan } from '@pasteflow/runtime';
import { deliveryIds, type DeliveryEvents } from '../events.ts';
import { beginExecutionSpan, describeEnd, endExecutionSpan } from '../executions/execution-span.ts';
import { MAX_LOCK_WAIT_MS, maySettleAgain } from '../executions/settle-again.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { interrupted, type Verdict } from './judge.ts';

export interface AttemptContext {
  readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'gate' | 'running' | 'stopping' | 'graceOver'>;
  readonly events: DeliveryEvents;
  /** Sends the event; never throws. */
  readonly send: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Verdict>;
}

/** When a delivery was claimed: `running.now()` and, for the trace, performance.now() before the claim. */
export interface ClaimTimes {
  readonly claimedAt: number;
  readonly claimBeganAt: number;
}

/** One attempt at a claimed delivery: send, settle, report. Never throws. */
export async function attemptDelivery(
  context: AttemptContext,
  delivery: ClaimedDelivery,
  { claimedAt, claimBeganAt }: ClaimTimes,
): Promise<void> {
  const { worker, events, send } = context;
  const { executionId, deliveryId, endpointId, attempt } = delivery;
  const span = beginExecutionSpan({
    kind: 'webhook',
    context: null,
    claimBeganAt,
    attributes: {
      'pasteflow.delivery_id': deliveryId,
      'pasteflow.endpoint_id': endpointId,
      'pasteflow.execution_id': executionId,
      'pasteflow.attempt': attempt,
    },
  });
  await runInSpan(span, async () => {
    events.attemptStarted(delivery);
    const lost = worker.running.begin(executionId, claimedAt, () => events.leaseLost(deliveryIds(delivery)));
    const signal = AbortSignal.any([lost, worker.graceOver]);
    // The claim of a worker that stops may still bring deliveries: they are another worker's.
    const verdict = worker.stopping.aborted ? interrupted : await send(delivery, signal);
    const nextStep = decideNextStep(verdict.outcome, delivery, webhookRetryPolicy, Math.random());
    const settled = await settleWhileLeased(context, { executionId, nextStep, ...verdict });
    const seconds = (worker.running.now() - claimedAt) / 1000;
    worker.running.end(executionId);
    const end = { outcome: verdict.outcome, nextStep };
    if (settled === null) events.settlementLost(deliveryIds(delivery));
    else events.attemptEnded(delivery, { ...end, status: settled.status, seconds });
    describeEnd(span, settled === null ? null : end);
  });
  endExecutionSpan(span);
}

/** @returns null: another process had ended the execution, or Postgres did not answer for as long as the lease was held */
async function settleWhileLeased(
  { worker, events }: AttemptContext,
  settlement: DeliverySettlement,
): Promise<Settled<WebhookDeliveryState> | null> {
  const { db, actor } = worker;
  const { executionId } = settlement;
  const how = { actor, dispatched: false, maxLockWaitMs: MAX_LOCK_WAIT_MS };
  for (let failures = 1; ; failures++) {
    try {
      return (await settleExecutions(db, deliverySubject, [settlement], how)).get(executionId) ?? null;
    } catch (error) {
      events.dependencyFailed('settling a delivery', error);
      if (!(await maySettleAgain(worker, executionId, { error, failures }))) return null;
    }
  }
}
