import type { Request } from 'express';
import { isUuid } from '@pasteflow/domain';
import { findWebhook, type Database, type WebhookEndpoint } from '@pasteflow/postgres';
import type { WebhookSettings } from '@pasteflow/service-kit';
import { z } from 'zod';
import type { ApiContext } from '../context.ts';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { uuid } from '../http/openapi/formats.ts';
import { exampleWebhook } from './webhook-view.ts';

/** The parameters of a path that names an endpoint. */
export const namedWebhook = z.object({
  id: uuid.meta({
    param: { id: 'WebhookId', description: 'The id of the endpoint.', example: exampleWebhook.id },
  }),
});

/** The errors of finding an endpoint. */
export const findErrors = [
  'webhook_not_found',
  'dependency_unavailable',
] as const satisfies readonly ProblemCode[];

/** The caller's endpoint that the URL names; for everybody else there is none. @throws RequestError webhook_not_found */
export async function findOwnWebhook(db: Database, req: Request): Promise<WebhookEndpoint> {
  return (await findWebhook(db, namedId(req), requireUser(req))) ?? webhookNotFound();
}

/** Texts that are not UUIDs never reach the database. @throws RequestError webhook_not_found */
export function namedId(req: Request): string {
  const id = String(req.params.id).toLowerCase();
  return isUuid(id) ? id : webhookNotFound();
}

/** @throws RequestError webhook_not_found */
export function webhookNotFound(): never {
  throw new RequestError(
    'webhook_not_found',
    'You have no webhook with this id, or it was removed. List your webhooks.',
  );
}

/** What is sent and signed needs the key. @throws RequestError webhooks_off */
export function requireWebhooks({ webhooks }: ApiContext): WebhookSettings {
  if (webhooks !== null) return webhooks;
  throw new RequestError(
    'webhooks_off',
    'This service sends no webhooks: its operator has set no WEBHOOK_KEY. Ask the operator.',
  );
}
