import type { Request } from 'express';
import { isRequestCode } from '@pasteflow/domain';
import { findSecretRequest, type Database, type SecretRequest } from '@pasteflow/postgres';
import { z } from 'zod';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import { RequestError } from '../http/answers/request-error.ts';
import { userIdOf } from '../http/callers/caller-of.ts';
import { contextOf } from '../http/request/request-context.ts';
import { exampleRequest } from './request-view.ts';

/** The parameters of a path that names a request. */
export const namedRequest = z.object({
  id: z.string().meta({
    param: { id: 'RequestId', description: 'The id of the request.', example: exampleRequest.code },
  }),
});

/** An id, `#`, and a key. */
export const idWithKey = /^([0-9A-Za-z]{22})#([\w-]{1,200})$/;

/** The errors of finding a request. */
export const findErrors = [
  'request_not_found',
  'dependency_unavailable',
] as const satisfies readonly ProblemCode[];

/**
 * The request that the URL names, in any state. Texts that can't be ids never reach the database.
 * @throws RequestError request_not_found, which counts as a guess
 */
export async function findNamedRequest(db: Database, req: Request): Promise<SecretRequest> {
  const code = String(req.params.id);
  if (!isRequestCode(code)) throw requestNotFound();
  contextOf(req).secretRequest = code;
  const found = await findSecretRequest(db, code);
  if (found === null) throw requestNotFound();
  return found;
}

/** The caller's request that the URL names; for everybody else there is none. @throws RequestError request_not_found */
export async function findOwnRequest(db: Database, req: Request): Promise<SecretRequest> {
  const found = await findNamedRequest(db, req);
  if (!isOwn(found, req)) throw requestNotFound();
  return found;
}

export function isOwn({ userId }: SecretRequest, req: Request): boolean {
  return userId === userIdOf(req);
}

/** Why the request takes no deposit; null: it does. It says nothing else of the request. */
export function closedFor({ status, isExpired }: SecretRequest): RequestError | null {
  if (status === 'USED_UP')
    return new RequestError(
      'request_used_up',
      'This request has all the deposits that it takes. Ask whoever sent you the link for a new one.',
    );
  return status === 'OPEN' && !isExpired ? null : requestClosed();
}

export function requestNotFound(): RequestError {
  return new RequestError('request_not_found', 'There is no request at this address. Check the link.');
}

export function requestClosed(): RequestError {
  return new RequestError(
    'request_closed',
    'This request has expired or was closed, and takes no deposits. Ask whoever sent you the link for a new one.',
  );
}
