/** One event of a stream in its wire format (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
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

  /** Ends when the body ends, when nothing arrives for too long, or when the signal fires. Rejects when the connection fails. */
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
