import type { RecordedRequest } from './recorded-request.ts';
import type { BufferedResponse } from './upstream.ts';

/** A response that the upstream has sent and the client has not received. */
export interface HeldResponse {
  readonly status: number;
  release(): void;
  /** Resets the client's connection: the work is done and its response is lost. */
  drop(): void;
}

/** The actions of the proxy for a request. */
export interface Exchange {
  forward(): Promise<BufferedResponse>;
  answer(response: BufferedResponse): void;
  fail(status: number): void;
  drop(): void;
}

/**
 * A request that has arrived completely and waits for the test. It may be forwarded after its client has
 * died.
 */
export class HeldRequest {
  readonly request: RecordedRequest;
  readonly #exchange: Exchange;

  constructor(request: RecordedRequest, exchange: Exchange) {
    this.request = request;
    this.#exchange = exchange;
  }

  /** Forwards the request and answers the client, if it is still connected. Resolves to the status. */
  async forward(): Promise<number> {
    const response = await this.forwardAndHoldResponse();
    response.release();
    return response.status;
  }

  /** Forwards the request. When this resolves, the upstream has acted and the client still waits. */
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

  /** Resets the client's connection. The upstream never sees the request. */
  drop(): void {
    this.#exchange.drop();
  }
}
