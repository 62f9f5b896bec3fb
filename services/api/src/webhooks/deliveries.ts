import type { Request } from 'express';
import { isUuid } from '@pasteflow/domain';
import { listDeliveriesTo, sendAgain, type Database } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse, uuid } from '../http/openapi/formats.ts';
import { nextCursor, nextCursorOf, pageFields, pageRequestOf } from '../http/request/paging.ts';
import { readQuery } from '../http/request/query.ts';
import { findErrors, findOwnWebhook, namedWebhook, requireWebhooks } from './find-webhook.ts';
import { deliverySchema, exampleWebhook, viewOfDelivery } from './webhook-view.ts';

const query = z.strictObject(pageFields);

const listSchema = z
  .object({ deliveries: z.array(deliverySchema), next_cursor: nextCursor })
  .meta({ id: 'WebhookDeliveryList', description: 'A page of deliveries, newest first.' });

/** GET /v1/webhooks/:id/deliveries */
export function listDeliveries({ db }: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'listDeliveries',
      tag: 'webhooks',
      access: 'user',
      summary: 'Lists the deliveries to an endpoint of the caller, newest first.',
      description:
        'A delivery is listed for as long as a job that has ended. Of an answer, only its status is kept.',
      params: { path: namedWebhook, query },
      answers: { 200: jsonResponse('A page of deliveries.', listSchema) },
      errors: [...findErrors, 'validation_failed'],
    },
    handle: async (req, res) => {
      const page = pageRequestOf(readQuery(req, query));
      const { id } = await findOwnWebhook(db, req);
      const found = await listDeliveriesTo(db, id, page);
      res.json({
        deliveries: found.rows.map(viewOfDelivery),
        next_cursor: nextCursorOf(found),
      } satisfies z.output<typeof listSchema>);
    },
  };
}

const namedDelivery = namedWebhook.extend({
  delivery: uuid.meta({
    param: { description: 'The id of the delivery.', example: exampleWebhook.deliveryId },
  }),
});

const sentAgainSchema = z
  .object({ id: uuid.meta({ description: 'The new delivery, with the `event_id` of the first.' }) })
  .meta({ id: 'SentAgain', description: 'An event that is sent again.' });

/** POST /v1/webhooks/:id/deliveries/:delivery/retry */
export function retryDelivery(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'retryDelivery',
      tag: 'webhooks',
      access: 'user',
      summary: 'Sends the event of a delivery that has ended again.',
      description: 'As a new delivery, which has the `event_id` of the old one.',
      params: { path: namedDelivery },
      answers: { 202: jsonResponse('The new delivery waits to be sent.', sentAgainSchema) },
      errors: [...findErrors, 'delivery_not_found', 'webhooks_off', 'delivery_waiting', 'webhook_off'],
    },
    handle: async (req, res) => {
      requireWebhooks(api);
      const claim = await api.idempotency.claim(req, res, '');
      if (claim === null) return;
      const { answer } = await claim.commit(async (db) => ({
        answer: jsonAnswer(202, { id: await sendOwnAgain(db, req) }),
      }));
      sendAnswer(res, answer);
    },
  };
}

/** @throws RequestError webhook_not_found, delivery_not_found, delivery_waiting, webhook_off */
export async function sendOwnAgain(db: Database, req: Request): Promise<string> {
  const { id: endpointId } = await findOwnWebhook(db, req);
  const deliveryId = String(req.params.delivery).toLowerCase();
  const sent = isUuid(deliveryId) ? await sendAgain(db, { endpointId, deliveryId }) : 'unknown';
  switch (sent) {
    case 'unknown':
      throw new RequestError(
        'delivery_not_found',
        'This webhook has no delivery with this id, or it was removed because of its age. List its deliveries.',
      );
    case 'waiting':
      throw new RequestError(
        'delivery_waiting',
        'This event waits to be sent to this webhook already. Look at its deliveries.',
      );
    case 'off':
      throw new RequestError('webhook_off', 'This webhook is switched off. Switch it on first.');
    default:
      return sent.id;
  }
}
