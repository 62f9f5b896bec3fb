import { onAll, type UnsentMessages } from './queues/work-queue.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

/** Rows a statement, uploads with their content: at most 22 MiB of it. */
const BATCH = 500;

/**
 * Sends the messages that the api has not sent, and sends messages again that seem to be lost. `postponed`
 * counts the queues with overdue messages that are too deep to tell whether messages are lost.
 */
export function createRelay({
  queues,
  relayGraceSeconds: graceSeconds,
  relayRedispatchAfterSeconds: olderThanSeconds,
}: Pick<JanitorContext, 'queues' | 'relayGraceSeconds' | 'relayRedispatchAfterSeconds'>): Sweep<'relay'> {
  return defineSweep('relay', { sent: 0, resent: 0, postponed: 0 }, (counts, signal, refused) =>
    onAll(queues, async (queue) => {
      await sendAll(
        (limit) => queue.findUndispatched({ graceSeconds, limit, refused }),
        { max: Infinity, signal },
        (count) => (counts.sent += count),
      );
      const overdue = (limit: number) => queue.findOverdue({ olderThanSeconds, limit, refused });
      if (signal.aborted || (await overdue(1)).count === 0) return;
      const lost = await queue.countLost();
      if (lost === null) counts.postponed += 1;
      else await sendAll(overdue, { max: lost, signal }, (count) => (counts.resent += count));
    }),
  );
}

/**
 * Sends until no messages are left or `max` are sent. It also stops when SQS refuses some messages: they
 * would be found again at once, so they wait for the next run.
 */
async function sendAll(
  find: (limit: number) => Promise<UnsentMessages>,
  { max, signal }: { readonly max: number; readonly signal: AbortSignal },
  onSent: (count: number) => void,
): Promise<void> {
  let sent = 0;
  while (!signal.aborted && sent < max) {
    const limit = Math.min(BATCH, max - sent);
    const unsent = await find(limit);
    const accepted = await unsent.dispatch(signal);
    sent += accepted;
    onSent(accepted);
    if (unsent.count < limit || accepted < unsent.count) break;
  }
}
