import { SQS_BATCH_SIZE } from '@pasteflow/domain';
import type { Follow, Followed } from './follow.ts';

export interface MessageDispatcherOptions<Outgoing> {
  /** Sends up to 10 messages in one request: `sendUploads` or `sendJobs`. Answers the ids of the executions whose message was taken. */
  readonly send: (messages: readonly Outgoing[]) => Promise<readonly string[]>;
  /** Told which executions now have a message, once a batch. */
  readonly onSent: (executionIds: readonly string[]) => Promise<void>;
  /** Told that `count` messages were not sent: the relay will send them. */
  readonly onError: (error: unknown, count: number) => void;
  /** Without it a message is sent as it is, and nothing is kept about it. */
  readonly follow?: Follow<Outgoing> | undefined;
}

/** How long a message waits for others to share its request, in ms: below what a client notices, above what a burst needs. */
const LINGER_MS = 5;

/** Requests to SQS at once, each with its 10 messages. */
const MAX_REQUESTS = 8;

/**
 * Messages that may wait at most, about 64 MiB when all carry content. Beyond that SQS is too slow or down, and the relay, which
 * reads from Postgres, is the better place to wait.
 */
const MAX_WAITING = 1000;

/**
 * Sends messages after the commit, in batches, without anybody waiting for it: a message that can't be sent is dropped, since its
 * execution waits in Postgres for the relay.
 */
export class MessageDispatcher<Outgoing> {
  readonly #options: MessageDispatcherOptions<Outgoing>;
  #waiting: Outgoing[] = [];
  /** Those of them, and of what is being sent, that are followed. */
  readonly #followed = new Map<Outgoing, Followed<Outgoing>['ended']>();
  #lingering: NodeJS.Timeout | undefined;
  readonly #requests = new Set<Promise<void>>();

  constructor(options: MessageDispatcherOptions<Outgoing>) {
    this.#options = options;
  }

  /** Never throws and never waits. */
  dispatch(message: Outgoing): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#options.onError(new Error('too many messages wait to be sent'), 1);
      return;
    }
    this.#waiting.push(this.#follow(message));
    if (this.#waiting.length >= SQS_BATCH_SIZE) this.#flush();
    else this.#lingering ??= setTimeout(() => this.#flush(), LINGER_MS);
  }

  #follow(dispatched: Outgoing): Outgoing {
    if (this.#options.follow === undefined) return dispatched;
    const { message, ended } = this.#options.follow(dispatched);
    this.#followed.set(message, ended);
    return message;
  }

  #unfollow(messages: readonly Outgoing[], sent: readonly string[], error?: unknown): void {
    if (this.#followed.size === 0) return;
    for (const message of messages) {
      this.#followed.get(message)?.(sent, error);
      this.#followed.delete(message);
    }
  }

  /** Sends what waits, and resolves when every request has ended. */
  async stop(): Promise<void> {
    this.#flush();
    while (this.#requests.size > 0) await Promise.all(this.#requests); // an ended request may have begun the next
  }

  #flush(): void {
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    while (this.#waiting.length > 0 && this.#requests.size < MAX_REQUESTS) {
      const request = this.#send(this.#waiting.splice(0, SQS_BATCH_SIZE)).finally(() => {
        this.#requests.delete(request);
        if (this.#waiting.length > 0) this.#flush();
      });
      this.#requests.add(request);
    }
  }

  async #send(messages: readonly Outgoing[]): Promise<void> {
    const { send, onSent, onError } = this.#options;
    let sent: readonly string[] = [];
    try {
      sent = await send(messages);
      this.#unfollow(messages, sent);
      if (sent.length < messages.length)
        onError(new Error('SQS refused some of a batch'), messages.length - sent.length);
    } catch (error) {
      this.#unfollow(messages, [], error);
      return onError(error, messages.length);
    }
    await onSent(sent).catch((error: unknown) => onError(error, sent.length)); // unstamped, they will be sent again
  }
}
