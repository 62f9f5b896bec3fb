import { z } from 'zod';
import type { ProblemCode } from '../http/errors/problem-codes.ts';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.ts';
import { idempotencyReplayed, rateLimit, rateLimitPolicy, setCookies } from './answer-headers.ts';
import type { Operation } from './endpoint.ts';

// What operations share because of their method or access. It is added here, so that no operation can forget
// it.

/** @param method in upper case */
export function impliedParameters(method: string, operation: Operation): readonly z.ZodType[] {
  return isKeyed(method, operation) ? [idempotencyKeyParam()] : [];
}

/**
 * A POST that creates something takes an Idempotency-Key. The form of a page only deletes, and the answer of
 * a reveal is not kept.
 */
function isKeyed(method: string, { tag, hasOwnKey }: Operation): boolean {
  return method === 'POST' && tag !== 'pages' && hasOwnKey !== true;
}

/** Without an example, which Swagger UI would send for every reader of the documentation. */
function idempotencyKeyParam(): z.ZodType {
  return z
    .string()
    .regex(IDEMPOTENCY_KEY)
    .optional()
    .meta({
      param: {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'Makes the request safe to repeat: the same request with the same key gets the first answer again and creates nothing. ' +
          'Use a new key for each request, and one that is hard to guess, such as a UUID: it gives access to the answer.',
      },
    });
}

export function impliedErrors(method: string, operation: Operation): readonly ProblemCode[] {
  return [
    ...(method === 'GET' ? [] : (['cross_site_request'] as const)),
    ...(operation.access === 'open' ? [] : (['rate_limited'] as const)),
    ...(isKeyed(method, operation) ? (['idempotency_key_in_use', 'idempotency_key_reused'] as const) : []),
  ];
}

export const limitHeaders: z.ZodRawShape = { 'RateLimit-Policy': rateLimitPolicy, RateLimit: rateLimit };

/**
 * The headers of every answer of an operation. A limit that is off, or suspended because Postgres is
 * unavailable, is not shown.
 */
export function impliedHeaders({ access, errors, setsCookies }: Operation): z.ZodRawShape {
  const isLimited = access !== 'open' || errors.includes('rate_limited');
  return {
    ...(isLimited && limitHeaders),
    ...(setsCookies === true && { 'Set-Cookie': setCookies }),
  };
}

/** The headers of an operation's own answers. Only these are stored: a problem is never replayed. */
export function replayHeaders(method: string, operation: Operation): z.ZodRawShape {
  return isKeyed(method, operation) ? { 'Idempotency-Replayed': idempotencyReplayed } : {};
}
