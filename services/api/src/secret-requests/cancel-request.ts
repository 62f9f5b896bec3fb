import type { Request, Response } from 'express';
import { cancelSecretRequest, findSecretRequest, type Actor, type Database } from '@pasteflow/postgres';
import type { SecretRequest } from '@pasteflow/postgres';
import type { ApiContext } from '../context.ts';
import { jsonAnswer, sendAnswer } from '../http/answers/answer.ts';
import { RequestError } from '../http/answers/request-error.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { jsonResponse } from '../http/openapi/formats.ts';
import { findErrors, findOwnRequest, namedRequest, requestNotFound } from './find-request.ts';
import { ownRequestSchema, viewOfOwn } from './request-view.ts';

/** POST /v1/requests/:id/cancel */
export function cancelRequest(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'cancelRequest',
      tag: 'requests',
      access: 'user',
      summary: 'Closes a request for secrets: it takes no further deposits.',
      description:
        'The deposits that it has stay. Cancelling a cancelled request again changes nothing and is answered 200.',
      params: { path: namedRequest },
      answers: { 200: jsonResponse('The cancelled request.', ownRequestSchema) },
      errors: [...findErrors, 'request_ended'],
    },
    handle: (req, res) => cancel(api, req, res),
  };
}

async function cancel(api: ApiContext, req: Request, res: Response): Promise<void> {
  const request = await findOwnRequest(api.db, req);
  const claim = await api.idempotency.claim(req, res, '');
  if (claim === null) return;
  const { answer } = await claim.commit(async (db) => {
    const cancelled = await cancelOwn(db, request, api.actor);
    return { answer: jsonAnswer(200, viewOfOwn(cancelled, api.publicUrl())) };
  });
  sendAnswer(res, answer);
}

/** @throws RequestError request_ended for a request that has all its deposits */
export async function cancelOwn(
  db: Database,
  { code, userId }: SecretRequest,
  actor: Actor,
): Promise<SecretRequest> {
  await cancelSecretRequest(db, code, { userId, actor, reason: 'its user has cancelled it' });
  const now = await findSecretRequest(db, code);
  if (now === null) throw requestNotFound();
  if (now.status === 'CANCELLED') return now;
  throw new RequestError(
    'request_ended',
    'The request has all the deposits that it takes. There is nothing to cancel.',
  );
}
