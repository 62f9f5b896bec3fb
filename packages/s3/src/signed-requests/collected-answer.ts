import type { Dispatcher } from 'undici';
import { timeoutError } from './network-error.ts';

/** An answer with its whole body. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface CollectOptions {
  /** Until the answer begins. The time counts from the construction. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A signal that lives as long as its process keeps listeners that were removed, in the tables of a Map (ADR 60): they must keep no answer. */
class AbortListener {
  #answer: CollectedAnswer | undefined;

  constructor(answer: CollectedAnswer) {
    this.#answer = answer;
  }

  handleEvent(): void {
    this.#answer?.abort();
  }

  forget(): void {
    this.#answer = undefined;
  }
}

/**
 * Collects the answer of one request, for `Pool.dispatch`. undici's `Pool.request` makes a stream of each answer, which takes a third of the
 * CPU time of a small request. With several requests at once, the streams also outlive the collections of the young generation, and keep
 * what their request has sent (ADR 63).
 */
export class CollectedAnswer implements Dispatcher.DispatchHandler {
  /** Rejects with the error of the network, with an AbortError, or when the answer does not begin in time. */
  readonly promise: Promise<Answer>;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #listener = new AbortListener(this);
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #statusCode = 0;
  #headers: AnswerHeaders = {};

  constructor({ timeoutMs, signal }: CollectOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.promise = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#timer = setTimeout(() => this.fail(timeoutError(timeoutMs)), timeoutMs);
    if (signal?.aborted === true) this.abort();
    else signal?.addEventListener('abort', this.#listener, { once: true });
  }

  /** Whether the request need not be sent. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  fail(error: Error): void {
    if (this.hasFailed) return;
    this.#failure = error;
    this.#end();
    this.#controller?.abort(error);
    this.#reject(error);
  }

  abort(): void {
    this.fail(new DOMException('The request to S3 was aborted.', 'AbortError'));
  }

  /** undici starts a request only when it has a connection: the request may have failed meanwhile, and is then not sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== undefined) controller.abort(this.#failure);
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: AnswerHeaders): void {
    if (statusCode < 200) return; // the answer follows
    clearTimeout(this.#timer);
    this.#statusCode = statusCode;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    const [first] = this.#chunks;
    const body = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#resolve({ statusCode: this.#statusCode, headers: this.#headers, text: body.toString() });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#listener);
    this.#listener.forget();
  }
}
