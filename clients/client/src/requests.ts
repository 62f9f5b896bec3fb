import type {
  Deposit,
  NewDeposit,
  NewSecretRequest,
  OpenSecretRequest,
  SecretRequest,
  SecretRequestFilter,
} from './api-types.ts';
import { Listing } from './listing.ts';
import type { Transport } from './transport.ts';
import { type CallOptions, type CreateOptions, newIdempotencyKey } from './waiting.ts';

/** Requests for secrets. The keys are the caller's: no method sends one, and none is in an answer. */
export class SecretRequests {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @throws PasteflowApiError request_limit_reached */
  async create(
    body: NewSecretRequest = {},
    { idempotencyKey = newIdempotencyKey(), signal }: Omit<CreateOptions, 'wait' | 'timeoutMs'> = {},
  ): Promise<SecretRequest> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const whole = { deposits: 1, ...body };
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/requests', { body: whole, headers, ...init }),
      { signal },
    );
    return data;
  }

  /**
   * Who asks, and for what, for as long as the request takes deposits. Its own user gets a SecretRequest, in any state.
   * @throws PasteflowApiError request_closed, request_used_up
   */
  async get(id: string, { signal }: CallOptions = {}): Promise<SecretRequest | OpenSecretRequest> {
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/requests/{id}', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data;
  }

  /** The caller's own requests, newest first. */
  list({ signal, ...filter }: SecretRequestFilter & CallOptions = {}): Listing<SecretRequest> {
    return new Listing(async (place) => {
      const query = { ...filter, ...place };
      const { data } = await this.#transport.call(
        (api, init) => api.GET('/v1/requests', { params: { query }, ...init }),
        { signal },
      );
      return { items: data.requests, nextCursor: data.next_cursor };
    });
  }

  /** The deposits that were made stay. @throws PasteflowApiError request_ended when it has all its deposits */
  async cancel(id: string, { signal }: CallOptions = {}): Promise<SecretRequest> {
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/requests/{id}/cancel', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data;
  }

  /** What was deposited for a request of the caller, oldest first. */
  async deposits(id: string, { signal }: CallOptions = {}): Promise<readonly Deposit[]> {
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/requests/{id}/deposits', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data.deposits;
  }

  /**
   * Deposits an encrypted document, which needs no token.
   * @returns the receipt
   * @throws PasteflowApiError request_closed, request_used_up
   */
  async deposit(
    id: string,
    body: NewDeposit,
    { idempotencyKey = newIdempotencyKey(), signal }: Omit<CreateOptions, 'wait' | 'timeoutMs'> = {},
  ): Promise<string> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { data } = await this.#transport.call(
      (api, init) =>
        api.POST('/v1/requests/{id}/deposits', { params: { path: { id } }, body, headers, ...init }),
      { signal },
    );
    return data.receipt;
  }
}
