import type { RecordedRequest } from './recorded-request.ts';
import type { BufferedResponse } from './upstream.ts';

/** A response the upstream has given and the client hasn't got. */
export interface HeldResponse {
  readonly status: number;
  release(): void;
  /** Resets the client's connection: the work is done and its answer is lost. */
  drop(): void;
}

/** How the proxy carries out what a test decides about a request. */
export interface Exchange {
  forward(): Promise<BufferedResponse>;
  answer(response: BufferedResponse): void;
  fail(status: number): void;
  drop(): void;
}

/** A request that has arrived whole and waits for the test. It may be sent on after its client has died. */
export class HeldRequest {
  readonly request: RecordedRequest;
  readonly #exchange: Exchange;

  constructor(request: RecordedRequest, exchange: Exchange) {
    this.request = request;
    this.#exchange = exchange;
  }

  /** Sends it on and answers the client, if that is still there; resolves to the status. */
  async forward(): Promise<number> {
    const response = await this.forwardAndHoldResponse();
    response.release();
    return response.status;
  }

  /** Sends it on; the upstream has acted when this resolves, and the client waits on. */
  async forwardAndHoldResponse(): Promise<HeldResponse> {
    const response = await this.#exchange.forward();
    return {
      status: response.status,
      release: () => this.#exchange.answer(response),
      drop: () => this.#exchange.drop(),
    };
  }

  fail(status: number): void {
    this.#exchange.fail(status);
  }

  /** Resets the client's connection; the upstream never sees the request. */
  drop(): void {
    this.#exchange.drop();
  }
}
