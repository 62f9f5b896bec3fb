import type { Sweep, SweepCounts } from '../sweeping/sweep.ts';
import type { Due } from '../work/due.ts';
import { sumOver, type Work } from '../work/work.ts';

export interface RelayOptions {
  readonly works: readonly Work[];
  readonly graceSeconds: number;
  readonly redispatchAfterSeconds: number;
}

/** Rows a statement, uploads with their content: at most 22 MiB of it. */
const BATCH = 500;

/** Sends the messages that the api could not send, and again those that seem to be lost. */
export class Relay implements Sweep {
  readonly name = 'relay';
  readonly #options: RelayOptions;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** `postponed` is how many queues were too deep to tell whether messages are lost of what is overdue there. */
  runOnce(signal: AbortSignal): Promise<SweepCounts> {
    return sumOver(this.#options.works, (work) => this.#relay(work, signal));
  }

  async #relay(work: Work, signal: AbortSignal): Promise<SweepCounts> {
    const { graceSeconds, redispatchAfterSeconds } = this.#options;
    const overdue = (limit: number) => work.findOverdue({ olderThanSeconds: redispatchAfterSeconds, limit });
    const sent = await sendAll((limit) => work.findUndispatched({ graceSeconds, limit }), signal);
    if (signal.aborted || (await overdue(1)).count === 0) return { sent, resent: 0, postponed: 0 };
    const lost = await work.countLost();
    if (lost === null) return { sent, resent: 0, postponed: 1 };
    return { sent, resent: await sendAll(overdue, signal, lost), postponed: 0 };
  }
}

/**
 * Until there are no more, or `most` are sent; or until SQS refuses some, which would be found again at once: they wait for the next run.
 */
async function sendAll(
  find: (limit: number) => Promise<Due>,
  signal: AbortSignal,
  most = Infinity,
): Promise<number> {
  let sent = 0;
  while (!signal.aborted && sent < most) {
    const limit = Math.min(BATCH, most - sent);
    const due = await find(limit);
    const taken = await due.dispatch(signal);
    sent += taken;
    if (due.count < limit || taken < due.count) break;
  }
  return sent;
}
