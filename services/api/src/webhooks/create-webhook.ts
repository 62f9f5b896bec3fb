import type { Request, Response } from 'express';
import { MAX_WEBHOOK_URL_CHARACTERS, MAX_WEBHOOKS } from '@pasteflow/domain';
import {
  createWebhook as insertWebhook,
  isErased,
  type Database,
  type WebhookEndpoint,
} from '@pasteflow/postgres';
import { readEndpointUrl, type EndpointUrlProblem } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { RequestError, validationFailed } from '../http/answers/request-error.ts';
import { jsonBodyErrors, readJson } from '../http/body/json-body.ts';
import { invalidToken } from '../http/callers/authorization.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { requireWebhooks } from './find-webhook.ts';
import {
  eventType,
  eventPost,
  exampleWebhook,
  ownEvents,
  signingWebhookSchema,
  viewWithSecret,
} from './webhook-view.ts';

export const newWebhookSchema = z
  .strictObject({
    url: z.string('must be a text').meta({
      description: `Where events are sent by POST: https on port 443 with a public address, or an origin that the operator has listed, and at most ${MAX_WEBHOOK_URL_CHARACTERS} characters. It is a secret: nobody else is shown it.`,
    }),
    events: z
      .array(eventType, 'must be a list')
      .min(1, 'must name at least one event')
      .meta({ description: 'What the endpoint is told. The order has no meaning.' }),
  })
  .meta({ id: 'NewWebhook', description: 'An endpoint that its user makes.' });

type NewWebhook = z.output<typeof newWebhookSchema>;

/** An URL with an escape for each character, and the names of all events. */
const MAX_BYTES = 16_384;

/** POST /v1/webhooks */
export function createWebhook(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'createWebhook',
      tag: 'webhooks',
      access: 'user',
      summary: 'Makes an endpoint, which is told of events.',
      description:
        "It is told what happens from now on to the caller's pastes, jobs and requests for secrets. Only this answer, and that of `rotate`, has the secret " +
        'that signs what is sent, by the specification of Standard Webhooks. 429 `webhook_limit_reached` has no Retry-After: remove an endpoint first.',
      body: {
        required: true,
        content: {
          'application/json': {
            schema: newWebhookSchema,
            example: { url: exampleWebhook.url, events: ['paste.stored', 'job.ended'] },
          },
        },
      },
      answers: {
        201: jsonResponse('The endpoint is on.', signingWebhookSchema, { Location: headers.webhookLocation }),
      },
      sends: { event: { post: eventPost } },
      errors: ['webhook_limit_reached', 'webhooks_off', ...jsonBodyErrors, 'dependency_unavailable'],
    },
    handle: (req, res) => create(api, req, res),
  };
}

async function create(api: ApiContext, req: Request, res: Response): Promise<void> {
  const settings = requireWebhooks(api);
  const limit = { what: 'the webhook', maxBytes: MAX_BYTES, budget: api.bodies, weight: 1 };
  const sent = await readJson(req, res, newWebhookSchema, limit);
  const wanted = checkedWebhook(api, sent);
  const claim = await api.idempotency.claim(req, res, JSON.stringify(sent));
  if (claim === null) return;
  const { answer } = await claim.commit(async (db) => {
    const made = await makeWebhook(db, requireUser(req), wanted);
    const Location = `${api.publicUrl()}/v1/webhooks/${made.id}`;
    return { answer: jsonAnswer(201, viewWithSecret(settings, made), { Location }) };
  });
  sendAnswer(res, answer);
}

/**
 * As it is stored: with each event once, and the URL as it is connected to.
 * @throws RequestError validation_failed, and webhooks_off where webhooks are off
 */
export function checkedWebhook(api: ApiContext, { url, events }: NewWebhook): NewWebhook {
  const read = readEndpointUrl(url, requireWebhooks(api).origins);
  if (typeof read === 'string') throw validationFailed([{ path: 'url', message: urlRules[read] }]);
  return { url: read.url.href, events: ownEvents.filter((event) => events.includes(event)) };
}

/** @throws RequestError webhook_limit_reached */
export async function makeWebhook(
  db: Database,
  userId: string,
  wanted: NewWebhook,
): Promise<WebhookEndpoint> {
  const made = await insertWebhook(db, { userId, ...wanted });
  if (made !== null) return made;
  if (await isErased(db, userId)) throw invalidToken();
  throw new RequestError(
    'webhook_limit_reached',
    `You have ${MAX_WEBHOOKS} webhooks, which is the limit. Remove one that you no longer need.`,
  );
}

/** They never repeat the URL, which is a secret. */
const urlRules: Readonly<Record<EndpointUrlProblem, string>> = {
  'is not a URL': 'must be a URL like https://hooks.example.com/pasteflow',
  'is too long': `must have at most ${MAX_WEBHOOK_URL_CHARACTERS} characters`,
  'has a user name or a password':
    'must have no user name and no password; put a secret into the path or the query',
  'has a fragment': 'must have no fragment (#…), which is never sent',
  'is not https on port 443': 'must begin with https:// and name no port',
  'is not public':
    'must name a host of the public internet: not localhost, and no private or reserved address',
};
