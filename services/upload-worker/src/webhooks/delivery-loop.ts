import { claimDeliveries, type ClaimedDelivery, type DeliveryPlace } from '@pasteflow/postgres';
import { PollLoop } from '@pasteflow/runtime';
import type { WorkerContext } from '../executions/worker-context.ts';
import { attemptDelivery, type AttemptContext } from './delivery-attempt.ts';

/** Deliveries at the same time: in this process, of one user, and to one endpoint. A slow endpoint uses up its own. */
const MAX_RUNNING = 100;
const MAX_RUNNING_OF_USER = 8;
const MAX_RUNNING_TO_ENDPOINT = 4;

const POLL_MS = 2000;

/**
 * Claims deliveries that are due, and attempts them side by side. Each claim begins where the last one ended in the order
 * of users and their endpoints, so that nobody waits for more than one round, however many deliveries somebody else has.
 */
export class DeliveryLoop {
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
