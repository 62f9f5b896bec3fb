import type { ErrorCode } from '@pasteflow/domain';
import { z } from 'zod';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.ts';
import { idempotencyReplayed, rateLimit, rateLimitPolicy } from './answer-headers.ts';
import type { Operation } from './endpoint.ts';

// What operations share because of their method or access. It is added here, so that no operation can forget
// it.

/** @param method in upper case */
export function impliedParameters(method: string, { operationId }: Operation): readonly z.ZodType[] {
  return method === 'POST' ? [idempotencyKeyParam(operationId)] : [];
}

/** Each operation has an example of its own, because a key can't be used for two operations. */
function idempotencyKeyParam(operationId: string): z.ZodType {
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
        example: `${operationId}-8f1d4c3a6b`,
      },
    });
}

export function impliedErrors(method: string, { access }: Operation): readonly ErrorCode[] {
  return [
    ...(access === 'open' ? [] : (['rate_limited'] as const)),
    ...(method === 'POST' ? (['idempotency_key_in_use', 'idempotency_key_reused'] as const) : []),
  ];
}

/**
 * The headers of every answer of an operation. A limit that is off, or suspended because Postgres is
 * unavailable, is not shown.
 */
export function impliedHeaders({ access }: Operation): z.ZodRawShape {
  return access === 'open' ? {} : { 'RateLimit-Policy': rateLimitPolicy, RateLimit: rateLimit };
}

/** The headers of an operation's own answers. Only these are stored: a problem is never replayed. */
export function replayHeaders(method: string): z.ZodRawShape {
  return method === 'POST' ? { 'Idempotency-Replayed': idempotencyReplayed } : {};
}
