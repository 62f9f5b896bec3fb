import type { Job, Paste, Timeline } from './api-types.ts';
import { PasteflowConnectionError } from './errors.ts';
import { type CallOptions, sleep } from './waiting.ts';

/** An event of a paste or job. Its `id` is a position: `events(…, { after: id })` continues after it. */
export type LiveEvent<Status> =
  | {
      readonly type: 'transition';
      readonly id: string;
      readonly transition: Timeline['transitions'][number];
    }
  /** Of a job. */
  | {
      readonly type: 'progress';
      readonly id: string;
      readonly progress: number;
      readonly progress_message: string | null;
    }
  /** The last event. `status` is null when the paste has expired or was deleted. */
  | { readonly type: 'end'; readonly id: string; readonly status: Status | null };

export type PasteEvent = LiveEvent<Paste['status']>;
export type JobEvent = LiveEvent<Job['status']>;

export interface EventsOptions extends CallOptions {
  /** The id of the last event received; default: start with the first event. */
  readonly after?: string | undefined;
}

/** The reconnection delay until the server sends one. */
const RETRY_MS = 1000;

/**
 * Yields each event once, until the end. When a stream breaks off, a new one is opened after the last event
 * received.
 * @param open opens a stream after an event, or from the start; it retries failed requests
 * @param maxFailures number of streams in a row that may break off without having sent anything
 */
export async function* followEvents<Status extends string>(
  open: (after: string | undefined) => Promise<Response>,
  { after, signal }: EventsOptions,
  maxFailures: number,
): AsyncGenerator<LiveEvent<Status>, void, undefined> {
  let last = after;
  let retryMs = RETRY_MS;
  for (let failures = 1; failures <= maxFailures; failures += 1) {
    signal?.throwIfAborted();
    const { body } = await open(last);
    if (body === null) return; // 204: the last event is known
    const messages = new EventMessages(body);
    const reading = messages.read(signal);
    try {
      for (;;) {
        const message = await reading.next().catch(() => null); // the stream broke off
        signal?.throwIfAborted();
        if (message === null || message.done === true) break;
        const event = toEvent<Status>(message.value);
        if (event === null) continue;
        last = event.id;
        yield event;
        if (event.type === 'end') return;
      }
    } finally {
      await reading.return();
    }
    if (messages.hasBegun) failures = 0;
    retryMs = messages.retryMs ?? retryMs;
    await sleep(retryMs, signal);
  }
  throw new PasteflowConnectionError(`${maxFailures} event streams broke off before the first byte`);
}

/** null: a type of event that this version of the client doesn't know. */
function toEvent<Status extends string>({ event: type, id, data }: EventMessage): LiveEvent<Status> | null {
  switch (type) {
    case 'transition':
      return { type, id, transition: JSON.parse(data) as Timeline['transitions'][number] };
    case 'progress':
      return { type, id, ...(JSON.parse(data) as { progress: number; progress_message: string | null }) };
    case 'end':
      return { type, id, ...(JSON.parse(data) as { status: Status | null }) };
    default:
      return null;
  }
}

/**
 * One event of a stream in its wire format (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 */
export interface EventMessage {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** The server sends a comment every 15 s. After three times that, the connection is considered lost. */
const SILENCE_MS = 45_000;

/** Parses a body of Server-Sent Events while it arrives. */
export class EventMessages {
  readonly #body: ReadableStream<Uint8Array>;
  readonly #silenceMs: number;
  /** The incomplete line, and the fields of the incomplete message. */
  #line = '';
  #fields = new Map<string, string>();
  /** Whether any byte has arrived. */
  hasBegun = false;
  /** The reconnection delay that the server has sent, in ms. */
  retryMs: number | undefined;

  constructor(body: ReadableStream<Uint8Array>, { silenceMs = SILENCE_MS }: { silenceMs?: number } = {}) {
    this.#body = body;
    this.#silenceMs = silenceMs;
  }

  /**
   * Ends when the body ends, when nothing arrives for too long, or when the signal fires. Rejects when the
   * connection fails.
   */
  async *read(signal: AbortSignal | undefined): AsyncGenerator<EventMessage, void, undefined> {
    const reader = this.#body.getReader();
    const decoder = new TextDecoder();
    const leave = (): void => void reader.cancel().catch(() => {});
    signal?.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        const silence = setTimeout(leave, this.#silenceMs);
        const { done, value } = await reader.read().finally(() => clearTimeout(silence));
        if (done) return;
        this.hasBegun = true;
        yield* this.#take(decoder.decode(value, { stream: true }));
      }
    } finally {
      signal?.removeEventListener('abort', leave);
      leave();
    }
  }

  *#take(text: string): Generator<EventMessage, void, undefined> {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) {
      const message = this.#takeLine(line.replace(/\r$/, ''));
      if (message !== null) yield message;
    }
  }

  /** @returns the message when the line is the empty line that ends it, otherwise null */
  #takeLine(line: string): EventMessage | null {
    if (line === '') {
      const { event = 'message', id = '', data } = Object.fromEntries(this.#fields);
      this.#fields = new Map();
      return data === undefined ? null : { event, id, data };
    }
    const [name = '', ...rest] = line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    else if (name === 'data' && this.#fields.has('data'))
      this.#fields.set('data', `${this.#fields.get('data')}\n${value}`);
    else if (name !== '') this.#fields.set(name, value);
    return null;
  }
}
