import {
  parseReason,
  statesOf,
  textForOwner,
  webhookDelivery,
  webhookEvents,
  webhookEventsFor,
  type Reason,
} from '@pasteflow/domain';
import type { WebhookDelivery, WebhookEndpoint } from '@pasteflow/postgres';
import { mustBeOneOf, webhookSecret, type WebhookSettings } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ZodOpenApiOperationObject } from 'zod-openapi';
import { knownReasonClass } from '../live/timeline-view.ts';
import { instant, uuid } from '../http/openapi/formats.ts';

/** In the examples of the OpenAPI document. */
export const exampleWebhook = {
  id: '019aa5b2-7c00-7d1f-8a3e-4b5c6d7e8f90',
  url: 'https://hooks.example.com/pasteflow',
  deliveryId: '019aa5b2-8e00-7a2b-9c4d-5e6f708192a3',
  eventId: '019aa5b2-8e00-7f10-8b21-3c4d5e6f7081',
} as const;

/** What endpoints of users can be told. */
export const ownEvents = webhookEventsFor('owner');

export const eventType = z
  .enum(ownEvents, mustBeOneOf(ownEvents))
  .meta({ id: 'WebhookEventType', description: 'What an endpoint can be told.' });

const exampleView: WebhookView = {
  id: exampleWebhook.id,
  url: exampleWebhook.url,
  events: ['paste.stored', 'job.ended'],
  status: 'on',
  switched_off_for: null,
  switched_off_at: null,
  failing_since: null,
  created_at: '2026-11-28T12:00:00.000Z',
  rotated_at: null,
};

const view = z.object({
  id: uuid,
  url: z.url(),
  events: z.array(eventType),
  status: z.enum(['on', 'off']).meta({ description: 'An endpoint that is `off` is told nothing.' }),
  switched_off_for: z.enum(['gone', 'failing', 'operator']).nullable().meta({
    description:
      'Why it is off: it answered 410, no delivery has succeeded for three days, or an operator has switched it off.',
  }),
  switched_off_at: instant.nullable(),
  failing_since: instant
    .nullable()
    .meta({ description: 'Since when no delivery has succeeded while others failed; null: it works.' }),
  created_at: instant,
  rotated_at: instant.nullable().meta({
    description:
      'When the secret was last changed; null: never. For a day after it, the secret before signs as well.',
  }),
});

export type WebhookView = Readonly<z.output<typeof view>>;

export const webhookSchema = view.meta({
  id: 'Webhook',
  description: 'An endpoint of the caller, which is told of events.',
  examples: [exampleView],
});

export const signingWebhookSchema = view
  .extend({
    secret: z.string().meta({
      description: 'Signs the deliveries, by the specification of Standard Webhooks. Nothing shows it again.',
    }),
  })
  .meta({
    id: 'SigningWebhook',
    description: 'An endpoint with its secret.',
    examples: [{ ...exampleView, secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' }],
  });

export function viewOfWebhook(endpoint: WebhookEndpoint): WebhookView {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: ownEvents.filter((event) => endpoint.events.includes(event)),
    status: endpoint.switchedOffAt === null ? 'on' : 'off',
    switched_off_for: endpoint.switchedOffFor,
    switched_off_at: endpoint.switchedOffAt?.toISOString() ?? null,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
    rotated_at: endpoint.rotatedAt?.toISOString() ?? null,
  };
}

/** The only views with the secret are the answers to its creation and to its change. */
export function viewWithSecret(
  { key }: WebhookSettings,
  endpoint: WebhookEndpoint,
): z.output<typeof signingWebhookSchema> {
  return { ...viewOfWebhook(endpoint), secret: webhookSecret(key, endpoint.id, endpoint.generation) };
}

const reason = z.object({
  class: knownReasonClass,
  text: z.string().nullable().meta({ description: 'In words.' }),
});

export const deliverySchema = z
  .object({
    id: uuid,
    event_id: uuid.meta({
      description:
        'The `webhook-id` of its requests: the same for each attempt, and for a delivery that is sent again.',
    }),
    type: eventType,
    data: z
      .object({
        short_code: z.string().optional(),
        job_id: z.string().optional(),
        request_id: z.string().optional(),
      })
      .meta({ description: 'The `data` of its requests, with one of these.' }),
    happened_at: instant,
    status: z.enum(statesOf(webhookDelivery)),
    attempts: z.int().positive().meta({ description: 'So far, with the one that runs or waits.' }),
    next_attempt_at: instant.nullable().meta({ description: 'null: none waits.' }),
    answered: z
      .int()
      .nullable()
      .meta({ description: 'The status of the last answer; null: there was none.' }),
    reason: reason.nullable().meta({ description: 'Why the last attempt failed; null: none has failed.' }),
    retry_of: uuid
      .nullable()
      .meta({ description: 'The delivery whose event is sent again; null: it is the first.' }),
    created_at: instant,
    ended_at: instant.nullable(),
  })
  .meta({ id: 'WebhookDelivery', description: 'An event for an endpoint.' });

export type DeliveryView = Readonly<z.output<typeof deliverySchema>>;

export function viewOfDelivery(delivery: WebhookDelivery): DeliveryView {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.type,
    data: { [webhookEvents[delivery.type].about]: delivery.about },
    happened_at: delivery.happenedAt.toISOString(),
    status: delivery.status,
    attempts: delivery.attempt,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    answered: delivery.answered,
    reason: delivery.error === null ? null : viewOfReason(parseReason(delivery.error)),
    retry_of: delivery.retryOf,
    created_at: delivery.createdAt.toISOString(),
    ended_at: delivery.endedAt?.toISOString() ?? null,
  };
}

function viewOfReason(stored: Reason): z.output<typeof reason> {
  return { class: stored.class, text: textForOwner(stored) };
}

const eventSchema = z
  .union(
    (['short_code', 'job_id', 'request_id'] as const).map((about) =>
      z.strictObject({
        type: z.enum(ownEvents.filter((type) => webhookEvents[type].about === about)),
        timestamp: instant,
        data: z.strictObject({ [about]: z.string() }),
      }),
    ),
  )
  .meta({
    id: 'WebhookEvent',
    description: 'What an endpoint is told, without title and content.',
  });

const exampleEvent: z.output<typeof eventSchema> = {
  type: 'paste.stored',
  timestamp: '2026-11-28T12:00:00.000Z',
  data: { short_code: 'q7Zk2Lm9Xa' },
};

const header = (description: string, example: string) => z.string().meta({ param: { description, example } });

/** The request that an endpoint is sent. */
export const eventPost: ZodOpenApiOperationObject = {
  operationId: 'receiveEvent',
  tags: ['webhooks'],
  security: [],
  summary: 'What an endpoint is sent for an event.',
  description:
    'At least once, in any order, and signed by the specification of Standard Webhooks. There are eight attempts in about 23 hours.',
  requestParams: {
    header: z.object({
      'webhook-id': header(
        'Of the event: the same for each attempt, and for a delivery that is sent again.',
        exampleWebhook.eventId,
      ),
      'webhook-timestamp': header('When the attempt was made, in seconds since 1970.', '1795867200'),
      'webhook-signature': header(
        'One or, for a day after a new secret, two signatures of `ID.TIMESTAMP.BODY`, with a blank between them.',
        'v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      ),
    }),
  },
  requestBody: {
    required: true,
    content: { 'application/json': { schema: eventSchema, example: exampleEvent } },
  },
  responses: {
    '2XX': { description: 'Within 15 s: the event is delivered.' },
    '410': { description: 'The endpoint is switched off.' },
    default: {
      description: 'The attempt has failed. `Retry-After` of a 429 or 503 is honoured up to a day.',
    },
  },
};
