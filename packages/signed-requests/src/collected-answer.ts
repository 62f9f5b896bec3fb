import type { Dispatcher } from 'undici';
import { timeoutError } from './failures.ts';

/** An answer with its whole body. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface CollectOptions {
  /** For error messages. */
  readonly name: string;
  /** Until the answer begins. The time counts from the construction. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Collects the answer of one request, for `Pool.dispatch`. undici's `Pool.request` makes a stream of each answer,
 * and needs an AbortController for its timeout, which take more time than a small request itself.
 */
export class CollectedAnswer implements Dispatcher.DispatchHandler {
  /** Rejects with the error of the network, with an AbortError, or when the answer does not begin in time. */
  readonly promise: Promise<Answer>;
  readonly #name: string;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.abort();
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #failure: Error | undefined;
  #statusCode = 0;
  #headers: AnswerHeaders = {};

  constructor({ name, timeoutMs, signal }: CollectOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.promise = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#timer = setTimeout(() => this.fail(timeoutError(timeoutMs, name)), timeoutMs);
    this.#name = name;
    if (signal?.aborted === true) this.abort();
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
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
    this.fail(new DOMException(`The request to ${this.#name} was aborted.`, 'AbortError'));
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
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}
