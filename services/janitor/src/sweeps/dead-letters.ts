import type { Logger } from '@pasteflow/runtime';
import { acknowledge, receiveDeadLetters } from '@pasteflow/sqs';
import { onAll, type WorkQueue } from './queues/work-queue.ts';
import type { RefusedRows } from './running/refused-rows.ts';
import { defineSweep, type Sweep } from './running/sweep.ts';
import type { JanitorContext } from './context.ts';

type Message = Awaited<ReturnType<typeof receiveDeadLetters>>[number];

const DEAD_LETTER = 'dead letter: received too often without an outcome';

/** Keeps a hostile message from writing a page into the log. */
const MAX_REASON_CHARACTERS = 300;

/**
 * Drains the dead-letter queues. For each message of an upload, its due attempt ends as lost, with the
 * reason; the relay sends the message of the next attempt when that is due. A message is acknowledged only
 * after the outcome is in Postgres.
 *
 * A message of a job ends nothing: the job that it names may never have been started by it, and the reaper
 * has counted each job whose worker died (ADR 25). Without the message there are fewer messages than waiting
 * jobs, so the relay sends one for a job that waits.
 *
 * Counts of messages: `unreadable`; `alive`: the execution is not due yet or runs elsewhere, which the relay
 * and the reaper take care of; `ended`: no execution is open; `left_to_relay`: messages of jobs. Counts of
 * executions: `failed`, and of these `given_up` after the last attempt.
 */
export function createDeadLetters({
  sqs,
  queues,
  actor,
  leaseSeconds,
  random,
  logger,
  deadLetterAges,
}: Pick<
  JanitorContext,
  'sqs' | 'queues' | 'actor' | 'leaseSeconds' | 'random' | 'logger' | 'deadLetterAges'
>): Sweep<'dead-letters'> {
  /** Each dropped message has its line: nothing else is left of it. */
  const records = logger.child({}, { everyLine: true });
  const zero = { unreadable: 0, alive: 0, ended: 0, left_to_relay: 0, failed: 0, given_up: 0 };

  /** @returns the messages that have nothing left to say */
  async function settle(
    queue: WorkQueue,
    messages: readonly Message[],
    counts: Record<keyof typeof zero, number>,
    refused: RefusedRows,
  ): Promise<readonly Message[]> {
    const read = messages.map((message) => ({ message, key: readKey(queue, message, records) }));
    const keys = read.flatMap(({ key }) => key ?? []);
    counts.unreadable += messages.length - keys.length;
    if (!queue.startsWhatItNames) {
      counts.left_to_relay += keys.length;
      if (keys.length > 0)
        logger.warn('dead letters of jobs dropped; the relay replaces them', { count: keys.length });
      return messages;
    }
    const by = { actor, leaseSeconds, random, refused };
    const { claims, refused: refusedKeys, ended } = await queue.endDue(keys, DEAD_LETTER, by);
    counts.failed += ended.count;
    counts.given_up += ended.count - ended.successors.count;
    const kinds = keys.filter((key) => !refusedKeys.has(key)).map((key) => claims.get(key)?.kind ?? 'ended');
    counts.alive += kinds.filter((kind) => kind === 'not_now').length;
    counts.ended += kinds.filter((kind) => kind === 'ended').length;
    // A message whose execution was refused comes back after its visibility timeout.
    return read.filter(({ key }) => key === null || !refusedKeys.has(key)).map(({ message }) => message);
  }

  return defineSweep('dead-letters', zero, (counts, signal, refused) =>
    onAll(queues, async (queue) => {
      let oldest = Infinity;
      while (!signal.aborted) {
        const messages = await receiveDeadLetters(sqs, queue.deadLetters);
        if (messages.length === 0) break;
        oldest = Math.min(oldest, ...messages.map(sentAt).filter(Number.isFinite));
        await acknowledge(sqs, queue.deadLetters, await settle(queue, messages, counts, refused));
      }
      deadLetterAges.saw(queue.kind, oldest);
    }),
  );
}

/**
 * The body is a user's content, so the log gets only the message's id and the reason, and no `cause`.
 * @returns null when no worker could have read the message
 */
function readKey(queue: WorkQueue, message: Message, records: Logger): string | null {
  try {
    return queue.readKey(message.Body);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, MAX_REASON_CHARACTERS) : 'unknown';
    records.error('unreadable dead letter dropped', { message_id: message.MessageId, reason });
    return null;
  }
}

/** Milliseconds since 1970; NaN when SQS did not answer the attribute. */
function sentAt({ Attributes }: Message): number {
  return Number(Attributes?.SentTimestamp ?? NaN);
}
