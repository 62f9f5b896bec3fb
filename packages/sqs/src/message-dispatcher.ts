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
 * shares a request is received, claimed and settled together: at 100 messages a second that saves a third of
 * the CPU time that 5 ms cost.
 */
const LINGER_MS = 25;

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

  constructor(options: {
    /**
     * Sends up to 10 messages in one request: `sendUploads` or `sendJobs`. Returns the ids of the executions
     * whose message SQS accepted.
     */
    readonly send: (messages: readonly Outgoing[]) => Promise<readonly string[]>;
    /** Called once per request with the executions whose message SQS accepted. */
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
      lingerMs: LINGER_MS,
      maxRunning: MAX_REQUESTS,
      maxWaiting: MAX_WAITING,
      refusal: () => new Error('Too many messages are waiting to be sent.'),
    });
  }

  /** Never throws and never waits. */
  dispatch(message: Outgoing): void {
    const { trace = untraced, onError } = this.#options;
    const traced = trace(message);
    this.#requests.call(traced).catch((refusal: unknown) => {
      traced.ended([], refusal);
      onError(refusal, 1);
    });
  }

  /**
   * Sends all waiting messages, and resolves when every request has ended.
   * @param withinMs after which it resolves anyway. The relay sends the others. Default: never.
   */
  async stop(withinMs?: number): Promise<void> {
    const drained = this.#requests.drain();
    if (withinMs === undefined) return await drained;
    const ended = new AbortController();
    await Promise.race([drained, sleep(withinMs, ended.signal)]);
    ended.abort();
  }

  /** Never rejects. */
  async #send(messages: readonly TracedMessage<Outgoing>[]): Promise<void> {
    const { send, onSent, onError } = this.#options;
    let sent: readonly string[];
    try {
      sent = await sendAll(messages, send);
    } catch (error) {
      return onError(error, messages.length);
    }
    if (sent.length < messages.length)
      onError(new Error('SQS rejected some messages of a batch.'), messages.length - sent.length);
    await onSent(sent).catch((error: unknown) => onError(error, sent.length)); // without the stamp the relay sends them again
  }
}

function untraced<Outgoing>(message: Outgoing): TracedMessage<Outgoing> {
  return { message, ended: () => {} };
}
