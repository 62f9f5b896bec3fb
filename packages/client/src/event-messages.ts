/** One event of a stream as it is sent (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface EventMessage {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** The server sends a comment every 15 s: after three times that, nobody is there any more. */
const SILENCE_MS = 45_000;

/** What a body of Server-Sent Events says, as it comes. */
export class EventMessages {
  readonly #body: ReadableStream<Uint8Array>;
  readonly #silenceMs: number;
  /** What has come of the line and the message that come. */
  #line = '';
  #fields = new Map<string, string>();
  /** Whether anything has come at all. */
  hasBegun = false;
  /** When to come back, in ms, if the server has said it. */
  retryMs: number | undefined;

  constructor(body: ReadableStream<Uint8Array>, { silenceMs = SILENCE_MS }: { silenceMs?: number } = {}) {
    this.#body = body;
    this.#silenceMs = silenceMs;
  }

  /** Ends when the body ends, is silent for too long, or the signal fires. Rejects when it breaks. */
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

  /** @returns the message that ends with an empty line */
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
