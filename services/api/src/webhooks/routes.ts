import type { ApiContext } from '../context.ts';
import type { Routes } from '../http/openapi/endpoint.ts';
import { createWebhook } from './create-webhook.ts';
import { listDeliveries, retryDelivery } from './deliveries.ts';
import {
  addMyWebhook,
  myWebhook,
  myWebhooks,
  removeMyWebhook,
  retryMyDelivery,
  rotateMyWebhook,
  switchOnMyWebhook,
} from './my-webhooks-page.ts';
import { listWebhooks, readWebhook, removeWebhook, rotateWebhook, switchOnWebhook } from './own-webhooks.ts';

export const webhookRoutes = (api: ApiContext): Routes => ({
  '/v1/webhooks': { GET: listWebhooks(api), POST: createWebhook(api) },
  '/v1/webhooks/:id': { GET: readWebhook(api), DELETE: removeWebhook(api) },
  '/v1/webhooks/:id/rotate': { POST: rotateWebhook(api) },
  '/v1/webhooks/:id/switch-on': { POST: switchOnWebhook(api) },
  '/v1/webhooks/:id/deliveries': { GET: listDeliveries(api) },
  '/v1/webhooks/:id/deliveries/:delivery/retry': { POST: retryDelivery(api) },
  '/my/webhooks': { GET: myWebhooks(api), POST: addMyWebhook(api) },
  '/my/webhooks/:id': { GET: myWebhook(api), POST: rotateMyWebhook(api) },
  '/my/webhooks/:id/switch-on': { POST: switchOnMyWebhook(api) },
  '/my/webhooks/:id/remove': { POST: removeMyWebhook(api) },
  '/my/webhooks/:id/deliveries/:delivery/retry': { POST: retryMyDelivery(api) },
});
