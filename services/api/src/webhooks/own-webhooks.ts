import {
  listWebhooks as findWebhooks,
  removeWebhook as remove,
  rotateWebhook as rotate,
  switchOnWebhook as switchOn,
  type Database,
  type WebhookEndpoint,
} from '@pasteflow/postgres';
import { MAX_WEBHOOKS } from '@pasteflow/domain';
import type { Request } from 'express';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import {
  findErrors,
  findOwnWebhook,
  namedId,
  namedWebhook,
  requireWebhooks,
  webhookNotFound,
} from './find-webhook.ts';
import { signingWebhookSchema, viewOfWebhook, viewWithSecret, webhookSchema } from './webhook-view.ts';

const listSchema = z
  .object({ webhooks: z.array(webhookSchema).max(MAX_WEBHOOKS) })
  .meta({ id: 'WebhookList', description: 'The endpoints of a user, oldest first.' });

/** GET /v1/webhooks */
export function listWebhooks({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'listWebhooks',
      tag: 'webhooks',
      access: 'user',
      summary: "Lists the caller's endpoints, oldest first.",
      answers: { 200: jsonResponse('The endpoints.', listSchema) },
      errors: ['dependency_unavailable'],
    },
    handle: async (req, res) => {
      const found = await findWebhooks(db, requireUser(req));
      res.json({ webhooks: found.map(viewOfWebhook) } satisfies z.output<typeof listSchema>);
    },
  };
}

/** GET /v1/webhooks/:id */
export function readWebhook({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readWebhook',
      tag: 'webhooks',
      access: 'user',
      summary: 'Reads an endpoint of the caller.',
      params: { path: namedWebhook },
      answers: { 200: jsonResponse('The endpoint.', webhookSchema) },
      errors: findErrors,
    },
    handle: async (req, res) => {
      res.json(viewOfWebhook(await findOwnWebhook(db, req)));
    },
  };
}

/** DELETE /v1/webhooks/:id. Also where webhooks are off: what is there can be removed. */
export function removeWebhook({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'removeWebhook',
      tag: 'webhooks',
      access: 'user',
      summary: 'Removes an endpoint: it is told nothing more.',
      description:
        'Its deliveries go with it. What waits is not sent; an attempt that is running may still arrive.',
      params: { path: namedWebhook },
      answers: { 204: { description: 'The endpoint is removed.' } },
      errors: findErrors,
    },
    handle: async (req, res) => {
      await removeOwn(db, req);
      res.status(204).end();
    },
  };
}

/** @throws RequestError webhook_not_found */
export async function removeOwn(db: Database, req: Request): Promise<void> {
  if (!(await remove(db, namedId(req), requireUser(req)))) webhookNotFound();
}

/** POST /v1/webhooks/:id/rotate */
export function rotateWebhook(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'rotateWebhook',
      tag: 'webhooks',
      access: 'user',
      summary: 'Changes the secret of an endpoint.',
      description:
        'For a day, the secret before signs as well, so that nothing is lost while the endpoint gets the new one.',
      params: { path: namedWebhook },
      answers: { 200: jsonResponse('The endpoint, with its new secret.', signingWebhookSchema) },
      errors: [...findErrors, 'webhooks_off'],
    },
    handle: async (req, res) => {
      const settings = requireWebhooks(api);
      const claim = await api.idempotency.claim(req, res, '');
      if (claim === null) return;
      const { answer } = await claim.commit(async (db) => ({
        answer: jsonAnswer(200, viewWithSecret(settings, await rotateOwn(db, req))),
      }));
      sendAnswer(res, answer);
    },
  };
}

/** @throws RequestError webhook_not_found */
export async function rotateOwn(db: Database, req: Request): Promise<WebhookEndpoint> {
  return (await rotate(db, namedId(req), requireUser(req))) ?? webhookNotFound();
}

/** POST /v1/webhooks/:id/switch-on */
export function switchOnWebhook(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'switchOnWebhook',
      tag: 'webhooks',
      access: 'user',
      summary: 'Switches an endpoint on again.',
      description:
        'It was switched off because it answered 410, or because no delivery succeeded for three days. What happened meanwhile is not told. ' +
        'For an endpoint that is on, this changes nothing and is answered 200.',
      params: { path: namedWebhook },
      answers: { 200: jsonResponse('The endpoint is on.', webhookSchema) },
      errors: [...findErrors, 'webhooks_off', 'webhook_switched_off'],
    },
    handle: async (req, res) => {
      requireWebhooks(api);
      const claim = await api.idempotency.claim(req, res, '');
      if (claim === null) return;
      const { answer } = await claim.commit(async (db) => ({
        answer: jsonAnswer(200, viewOfWebhook(await switchOnOwn(db, req))),
      }));
      sendAnswer(res, answer);
    },
  };
}

/** @throws RequestError webhook_not_found, webhook_switched_off */
export async function switchOnOwn(db: Database, req: Request): Promise<WebhookEndpoint> {
  const endpoint = (await switchOn(db, namedId(req), requireUser(req))) ?? webhookNotFound();
  if (endpoint.switchedOffAt === null) return endpoint;
  throw new RequestError(
    'webhook_switched_off',
    'An operator has switched this webhook off. Ask the operator, or remove it.',
  );
}
