import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { createWebhook } from './create-webhook.ts';
import { listDeliveries, retryDelivery } from './deliveries.ts';
import { listWebhooks, readWebhook, removeWebhook, rotateWebhook, switchOnWebhook } from './own-webhooks.ts';

export const webhookRoutes = (api: ApiContext): Routes => ({
  '/v1/webhooks': { GET: listWebhooks(api), POST: createWebhook(api) },
  '/v1/webhooks/:id': { GET: readWebhook(api), DELETE: removeWebhook(api) },
  '/v1/webhooks/:id/rotate': { POST: rotateWebhook(api) },
  '/v1/webhooks/:id/switch-on': { POST: switchOnWebhook(api) },
  '/v1/webhooks/:id/deliveries': { GET: listDeliveries(api) },
  '/v1/webhooks/:id/deliveries/:delivery/retry': { POST: retryDelivery(api) },
});
