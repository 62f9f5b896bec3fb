import type { WebhookSettings } from '@pasteflow/service-kit';
import { createDeliveryEvents } from '../events.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { DeliveryLoop } from './delivery-loop.ts';
import { createPostEvent } from './post-event.ts';
import { sendEvent } from './send-event.ts';

/** Replacements for tests. */
export interface WebhookOverrides {
  readonly pollMs?: number;
}

/** What sends the deliveries of webhooks. */
export function composeWebhooks(
  worker: WorkerContext,
  settings: WebhookSettings,
  { pollMs }: WebhookOverrides = {},
): Pick<DeliveryLoop, 'start' | 'stop'> {
  const postEvent = createPostEvent();
  return new DeliveryLoop({
    worker,
    pollMs,
    events: createDeliveryEvents(worker.logger, worker.metrics),
    send: (delivery, signal) => sendEvent(settings, postEvent, delivery, signal),
  });
}
