import type { LookupFunction } from 'node:net';
import type { WebhookSettings } from '@pasteflow/service-kit';
import { createDeliveryEvents } from '../events.ts';
import type { WorkerContext } from '../executions/worker-context.ts';
import { DeliveryLoop } from './delivery-loop.ts';
import { createPostEvent } from './post-event.ts';
import { sendEvent } from './send-event.ts';

/** Replacements for tests. */
export interface WebhookOverrides {
  readonly lookup?: LookupFunction;
  readonly answerTimeoutMs?: number;
}

/** What sends the deliveries of webhooks. */
export function composeWebhooks(
  worker: WorkerContext,
  settings: WebhookSettings,
  { lookup, answerTimeoutMs }: WebhookOverrides = {},
): Pick<DeliveryLoop, 'start' | 'stop'> {
  const postEvent = createPostEvent({ lookup, timeoutMs: answerTimeoutMs });
  return new DeliveryLoop({
    worker,
    events: createDeliveryEvents(worker.logger, worker.metrics),
    send: (delivery, signal) => sendEvent(settings, postEvent, delivery, signal),
  });
}
