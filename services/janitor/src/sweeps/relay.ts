import { sumOverQueues } from '../queues/sum-over-queues.ts';
import type { UnsentMessages } from '../queues/unsent-messages.ts';
import type { WorkQueue } from '../queues/work-queue.ts';
import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';

export interface RelayOptions {
  readonly queues: readonly WorkQueue[];
  /** How long the relay leaves a message to its sender. */
  readonly graceSeconds: number;
  readonly redispatchAfterSeconds: number;
}

/** Rows a statement, uploads with their content: at most 22 MiB of it. */
const BATCH = 500;

/** Sends the messages that the api has not sent, and sends messages again that seem to be lost. */
export class Relay implements Sweep {
  readonly name = 'relay';
  readonly #options: RelayOptions;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** `postponed` counts the queues with overdue messages that are too deep to tell whether messages are lost. */
  runOnce(signal: AbortSignal): Promise<SweepCounts> {
    return sumOverQueues(this.#options.queues, (queue) => this.#relay(queue, signal));
  }

  async #relay(queue: WorkQueue, signal: AbortSignal): Promise<SweepCounts> {
    const { graceSeconds, redispatchAfterSeconds } = this.#options;
    const overdue = (limit: number) => queue.findOverdue({ olderThanSeconds: redispatchAfterSeconds, limit });
    const sent = await sendAll((limit) => queue.findUndispatched({ graceSeconds, limit }), signal);
    if (signal.aborted || (await overdue(1)).count === 0) return { sent, resent: 0, postponed: 0 };
    const lost = await queue.countLost();
    if (lost === null) return { sent, resent: 0, postponed: 1 };
    return { sent, resent: await sendAll(overdue, signal, lost), postponed: 0 };
  }
}

/**
 * Sends until no messages are left or `max` are sent. It also stops when SQS refuses some messages: they would be found again at once, so
 * they wait for the next run.
 */
async function sendAll(
  find: (limit: number) => Promise<UnsentMessages>,
  signal: AbortSignal,
  max = Infinity,
): Promise<number> {
  let sent = 0;
  while (!signal.aborted && sent < max) {
    const limit = Math.min(BATCH, max - sent);
    const unsent = await find(limit);
    const accepted = await unsent.dispatch(signal);
    sent += accepted;
    if (unsent.count < limit || accepted < unsent.count) break;
  }
  return sent;
}
