import type { NewWebhook, SigningWebhook, Webhook, WebhookDelivery } from './api-types.ts';
import { Listing } from './listing.ts';
import type { Transport } from './transport.ts';
import { type CallOptions, type CreateOptions, newIdempotencyKey } from './waiting.ts';

/** Endpoints to which the server sends what happens to what the caller has. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** @returns the webhook with its secret, which no later answer has. @throws PasteflowApiError webhook_limit_reached */
  async create(
    body: NewWebhook,
    { idempotencyKey = newIdempotencyKey(), signal }: Omit<CreateOptions, 'wait' | 'timeoutMs'> = {},
  ): Promise<SigningWebhook> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/webhooks', { body, headers, ...init }),
      { signal },
    );
    return data;
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Webhook> {
    const { data } = await this.#transport.call(
      (api, init) => api.GET('/v1/webhooks/{id}', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data;
  }

  /** The caller's own webhooks, oldest first. */
  async list({ signal }: CallOptions = {}): Promise<readonly Webhook[]> {
    const { data } = await this.#transport.call((api, init) => api.GET('/v1/webhooks', { ...init }), {
      signal,
    });
    return data.webhooks;
  }

  /** What waits to be sent is not sent any more. */
  async remove(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.call(
      (api, init) => api.DELETE('/v1/webhooks/{id}', { params: { path: { id } }, ...init }),
      { signal },
    );
  }

  /** @returns the webhook with a new secret. For a day the one before signs as well. */
  async rotate(
    id: string,
    { idempotencyKey = newIdempotencyKey(), signal }: Omit<CreateOptions, 'wait' | 'timeoutMs'> = {},
  ): Promise<SigningWebhook> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/webhooks/{id}/rotate', { params: { path: { id } }, headers, ...init }),
      { signal },
    );
    return data;
  }

  /** @throws PasteflowApiError webhook_switched_off when an operator has switched it off */
  async switchOn(id: string, { signal }: CallOptions = {}): Promise<Webhook> {
    const { data } = await this.#transport.call(
      (api, init) => api.POST('/v1/webhooks/{id}/switch-on', { params: { path: { id } }, ...init }),
      { signal },
    );
    return data;
  }

  /** What was sent, or waits to be, newest first. */
  deliveries(
    id: string,
    { signal, ...filter }: { readonly limit?: number } & CallOptions = {},
  ): Listing<WebhookDelivery> {
    return new Listing(async (place) => {
      const params = { path: { id }, query: { ...filter, ...place } };
      const { data } = await this.#transport.call(
        (api, init) => api.GET('/v1/webhooks/{id}/deliveries', { params, ...init }),
        { signal },
      );
      return { items: data.deliveries, nextCursor: data.next_cursor };
    });
  }

  /**
   * Sends the event of a delivery that has ended once more.
   * @returns the id of the new delivery
   * @throws PasteflowApiError delivery_waiting, webhook_off
   */
  async sendAgain(
    id: string,
    delivery: string,
    { idempotencyKey = newIdempotencyKey(), signal }: Omit<CreateOptions, 'wait' | 'timeoutMs'> = {},
  ): Promise<string> {
    const path = { id, delivery };
    const headers = { 'Idempotency-Key': idempotencyKey };
    const { data } = await this.#transport.call(
      (api, init) =>
        api.POST('/v1/webhooks/{id}/deliveries/{delivery}/retry', { params: { path }, headers, ...init }),
      { signal },
    );
    return data.id;
  }
}
