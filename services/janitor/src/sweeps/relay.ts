import { findOverdue, findUndispatched, type DueUpload } from '@pasteflow/postgres';
import { queueDepth } from '@pasteflow/sqs';
import { dispatchUploads, type UploadQueue } from '../dispatch.ts';
import type { Sweep, SweepCounts } from '../sweep.ts';

export interface RelayOptions extends UploadQueue {
  readonly graceSeconds: number;
  readonly redispatchAfterSeconds: number;
}

/** Rows a statement, with their content: at most 22 MiB of it. */
const BATCH = 500;

/** Messages that wait to be received. Above it a message that is long overdue is most likely still in the queue, behind others. */
const DEEP_QUEUE = 1000;

/** Sends the messages that the api could not send, and again those that seem to be lost. */
export class Relay implements Sweep {
  readonly name = 'relay';
  readonly #options: RelayOptions;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** `postponed` is 1 when there were overdue uploads and the queue was too deep to send their messages again. */
  async runOnce(signal: AbortSignal): Promise<SweepCounts> {
    const { db, sqs, uploads, graceSeconds, redispatchAfterSeconds } = this.#options;
    const overdue = (limit: number) => findOverdue(db, { olderThanSeconds: redispatchAfterSeconds, limit });
    const sent = await this.#sendAll((limit) => findUndispatched(db, { graceSeconds, limit }), signal);
    if (signal.aborted || (await overdue(1)).length === 0) return { sent, resent: 0, postponed: 0 };
    if ((await queueDepth(sqs, uploads)) >= DEEP_QUEUE) return { sent, resent: 0, postponed: 1 };
    return { sent, resent: await this.#sendAll(overdue, signal), postponed: 0 };
  }

  /** Until there are no more; or until SQS refuses some, which would be found again at once: they wait for the next run. */
  async #sendAll(
    find: (limit: number) => Promise<readonly DueUpload[]>,
    signal: AbortSignal,
  ): Promise<number> {
    let sent = 0;
    while (!signal.aborted) {
      const due = await find(BATCH);
      const taken = await dispatchUploads(this.#options, due, signal);
      sent += taken;
      if (due.length < BATCH || taken < due.length) break;
    }
    return sent;
  }
}
