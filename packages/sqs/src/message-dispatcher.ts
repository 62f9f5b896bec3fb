import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import { Batcher, sleep } from '@pasteflow/runtime';

/** A message that carries the context of a span, and how to end that span. */
export interface TracedMessage<Outgoing> {
  readonly message: Outgoing;
  /** @param sent the executions whose message SQS accepted in the request that sent this message */
  readonly ended: (sent: readonly string[], error?: unknown) => void;
}

/** Starts the span of a message. */
export type TraceMessage<Outgoing> = (message: Outgoing) => TracedMessage<Outgoing>;

/** Sends and traces messages without a dispatcher. @throws what `send` throws */
export async function sendTraced<Outgoing>(
  trace: TraceMessage<Outgoing>,
  messages: readonly Outgoing[],
  send: (messages: readonly Outgoing[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  return await sendAll(messages.map(trace), send);
}

async function sendAll<Outgoing>(
  traced: readonly TracedMessage<Outgoing>[],
  send: (messages: readonly Outgoing[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    const sent = await send(traced.map(({ message }) => message));
    for (const { ended } of traced) ended(sent);
    return sent;
  } catch (error) {
    for (const { ended } of traced) ended([], error);
    throw error;
  }
}

/**
 * How long a message waits for others to share its request, in ms: too short for a client to notice. What
 * shares a request is received, claimed and settled together. A message that comes alone waits only for those
 * of the same moment.
 */
const LINGER_MS = { alone: 5, followingOthers: 100 };

/**
 * How long the stamps of a request wait for those of others, in ms. Nobody waits for them, and most executions
 * are claimed by then, which stamps them. A message has most of the second left after which the relay sends
 * what has no stamp.
 */
const STAMP_LINGER_MS = 250;

/** Executions that are stamped by one statement. */
const MAX_STAMPED = 1000;

/** Concurrent requests to SQS, each with up to 10 messages. */
const MAX_REQUESTS = 8;

/**
 * Messages that may wait: about 64 MiB when all carry content. With more than that SQS is slow or down, and
 * further messages are left to the relay, which reads them from Postgres.
 */
const MAX_WAITING = 1000;

/**
 * Sends messages in batches after the commit. No caller waits for SQS. A message that cannot be sent is
 * dropped: its execution is in Postgres, from where the relay dispatches it.
 */
export class MessageDispatcher<Outgoing extends object> {
  readonly #options;
  readonly #requests: Batcher<TracedMessage<Outgoing>, TracedMessage<Outgoing>>;
  /** Executions whose message SQS accepted. */
  readonly #stamps: Batcher<string, string>;
  #lastDispatchAt = -Infinity;
  #followsOthers = false;

  constructor(options: {
    /**
     * Sends up to 10 messages in one request: `sendUploads` or `sendJobs`. Returns the ids of the executions
     * whose message SQS accepted.
     */
    readonly send: (messages: readonly Outgoing[]) => Promise<readonly string[]>;
    /** Called with the executions whose messages SQS accepted, those of several requests together. */
    readonly onSent: (executionIds: readonly string[]) => Promise<void>;
    /** Called with the number of messages that were not sent. The relay sends them later. */
    readonly onError: (error: unknown, count: number) => void;
    /** Traces each message. Default: messages are not traced. */
    readonly trace?: TraceMessage<Outgoing> | undefined;
  }) {
    this.#options = options;
    this.#requests = new Batcher({
      run: async (messages) => {
        await this.#send(messages);
        return messages;
      },
      maxItems: SQS_BATCH_SIZE,
      lingerMs: () => (this.#followsOthers ? LINGER_MS.followingOthers : LINGER_MS.alone),
      maxRunning: MAX_REQUESTS,
      maxWaiting: MAX_WAITING,
      refusal: () => new Error('Too many messages are waiting to be sent.'),
    });
    const { onSent, onError } = options;
    this.#stamps = new Batcher({
      run: async (executionIds) => {
        await onSent(executionIds).catch((error: unknown) => onError(error, executionIds.length)); // without the stamp the relay sends them again
        return executionIds;
      },
      maxItems: MAX_STAMPED,
      lingerMs: STAMP_LINGER_MS,
    });
  }

  /** Never throws and never waits. */
  dispatch(message: Outgoing): void {
    const { trace = untraced, onError } = this.#options;
    const traced = trace(message);
    const now = performance.now();
    this.#followsOthers = now - this.#lastDispatchAt < LINGER_MS.followingOthers;
    this.#lastDispatchAt = now;
    this.#requests.call(traced).catch((refusal: unknown) => {
      traced.ended([], refusal);
      onError(refusal, 1);
    });
  }

  /**
   * Sends all waiting messages, and resolves when every request has ended and its executions are stamped.
   * @param withinMs after which it resolves anyway. The relay sends the others. Default: never.
   */
  async stop(withinMs?: number): Promise<void> {
    const drained = this.#requests.drain().then(() => this.#stamps.drain());
    if (withinMs === undefined) return await drained;
    const ended = new AbortController();
    await Promise.race([drained, sleep(withinMs, ended.signal)]);
    ended.abort();
  }

  /** Never rejects. */
  async #send(messages: readonly TracedMessage<Outgoing>[]): Promise<void> {
    const { send, onError } = this.#options;
    let sent: readonly string[];
    try {
      sent = await sendAll(messages, send);
    } catch (error) {
      return onError(error, messages.length);
    }
    if (sent.length < messages.length)
      onError(new Error('SQS rejected some messages of a batch.'), messages.length - sent.length);
    for (const executionId of sent) void this.#stamps.call(executionId); // never rejects
  }
}

function untraced<Outgoing>(message: Outgoing): TracedMessage<Outgoing> {
  return { message, ended: () => {} };
}
