import {
  claimDeliveries,
  type ClaimedDelivery,
  type DeliveryPlace,
  deliverySubject,
  settleExecutions,
  type DeliverySettlement,
  type Settled,
} from '@pasteflow/postgres';
import { PollLoop, runInSpan } from '@pasteflow/runtime';
import { decideNextStep, webhookRetryPolicy, type WebhookDeliveryState } from '@pasteflow/domain';
import type { WebhookSettings } from '@pasteflow/service-kit';
import type { WorkerContext } from '../executions/worker-context.ts';
import { deliveryIds, type DeliveryEvents, createDeliveryEvents } from '../events.ts';
import { beginExecutionSpan, describeEnd, endExecutionSpan } from '../executions/execution-span.ts';
import { MAX_LOCK_WAIT_MS, maySettleAgain } from '../executions/settle-again.ts';
import { interrupted, type Verdict } from './judge.ts';
import { createPostEvent } from './post-event.ts';
import { sendEvent } from './send-event.ts';

/** Deliveries at the same time: in this process, of one user, and to one endpoint. A slow endpoint uses up its own. */
const MAX_RUNNING = 100;
const MAX_RUNNING_OF_USER = 8;
const MAX_RUNNING_TO_ENDPOINT = 4;

const POLL_MS = 2000;

/**
 * Claims deliveries that are due, and attempts them side by side. Each claim begins where the last one ended in the order
 * of users and their endpoints, so that nobody waits for more than one round, however many deliveries somebody else has.
 */
class DeliveryLoop {
  readonly #options;
  readonly #loop: PollLoop;
  readonly #running = new Map<ClaimedDelivery, Promise<void>>();
  /** Where the next claim begins; null: at the start of the order. */
  #place: DeliveryPlace | null = null;

  constructor(
    options: AttemptContext & {
      readonly worker: Pick<WorkerContext, 'leaseSeconds' | 'bucket'>;
      readonly pollMs?: number | undefined;
    },
  ) {
    this.#options = options;
    const { worker, events, pollMs = POLL_MS } = options;
    this.#loop = new PollLoop({
      name: 'deliveries',
      intervalMs: pollMs,
      run: (signal) => this.#fill(signal),
      onError: (error) => {
        events.dependencyFailed('claiming deliveries', error);
        worker.gate.close();
      },
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  /** Resolves when nothing is claimed any more, and every attempt has ended. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#running.values());
  }

  /**
   * Claims until every place is taken, or until a whole round has found nothing. What is due then waits for deliveries that
   * run: see `#end`.
   */
  async #fill(signal: AbortSignal): Promise<void> {
    const { worker } = this.#options;
    await worker.bucket.waitUntilVerified();
    await worker.gate.waitUntilOpen();
    let isWhole = this.#place === null;
    let found = 0;
    while (this.#running.size < MAX_RUNNING && !signal.aborted) {
      found += await this.#claim();
      if (this.#place !== null) continue;
      if (isWhole && found === 0) return;
      isWhole = true;
      found = 0;
    }
  }

  /** @returns how many */
  async #claim(): Promise<number> {
    const { db, actor, leaseSeconds, running } = this.#options.worker;
    const times = { claimedAt: running.now(), claimBeganAt: performance.now() };
    const { deliveries, next } = await claimDeliveries(db, {
      actor,
      leaseSeconds,
      after: this.#place,
      running: [...this.#running.keys()],
      limit: MAX_RUNNING - this.#running.size,
      perUser: MAX_RUNNING_OF_USER,
      perEndpoint: MAX_RUNNING_TO_ENDPOINT,
    });
    this.#place = next;
    for (const delivery of deliveries) {
      const attempt = attemptDelivery(this.#options, delivery, times).then(() => this.#end(delivery));
      this.#running.set(delivery, attempt);
    }
    return deliveries.length;
  }

  /** Claims at once when the ended delivery may have kept another one waiting. */
  #end(ended: ClaimedDelivery): void {
    const running = [...this.#running.keys()];
    this.#running.delete(ended);
    const heldUp =
      running.length >= MAX_RUNNING ||
      running.filter(({ turnOf }) => turnOf === ended.turnOf).length >= MAX_RUNNING_OF_USER ||
      running.filter(({ endpointId }) => endpointId === ended.endpointId).length >= MAX_RUNNING_TO_ENDPOINT;
    if (heldUp) this.#loop.wake();
  }
}

interface AttemptContext {
  readonly worker: Pick<WorkerContext, 'db' | 'actor' | 'gate' | 'running' | 'stopping' | 'graceOver'>;
  readonly events: DeliveryEvents;
  /** Sends the event; never throws. */
  readonly send: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Verdict>;
}

/** When a delivery was claimed: `running.now()` and, for the trace, performance.now() before the claim. */
interface ClaimTimes {
  readonly claimedAt: number;
  readonly claimBeganAt: number;
}

/** One attempt at a claimed delivery: send, settle, report. Never throws. */
async function attemptDelivery(
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

/** Replacements for tests. */
export interface WebhookOverrides {
  readonly pollMs?: number;
}

/** What sends the deliveries of webhooks. */
export function composeWebhooks(
  worker: WorkerContext,
  settings: WebhookSettings,
  { pollMs }: WebhookOverrides = {},
): Pick<DeliveryLoop, 'start' | 'stop'> {
  const postEvent = createPostEvent();
  return new DeliveryLoop({
    worker,
    pollMs,
    events: createDeliveryEvents(worker.logger, worker.metrics),
    send: (delivery, signal) => sendEvent(settings, postEvent, delivery, signal),
  });
}
