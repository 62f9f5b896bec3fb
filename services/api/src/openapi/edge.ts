import type { ErrorCode } from '@pasteflow/domain';
import { z } from 'zod';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.ts';
import { idempotencyReplayed, rateLimit, rateLimitPolicy } from './answer-headers.ts';
import type { Operation } from './endpoint.ts';

// What operations have in common by what they are: none says it of itself, so that none forgets it.

/** @param method in upper case */
export function edgeParameters(method: string, { operationId }: Operation): readonly z.ZodType[] {
  return method === 'POST' ? [idempotencyKeyParam(operationId)] : [];
}

/** An example of each operation's own: a key that has been used for one can't be used for another. */
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
          'Makes the request safe to repeat: the same request with the same key is answered as the first time, and does nothing. ' +
          'Used for nothing else, and hard to guess, as a UUID is: whoever has it can have the answer.',
        example: `${operationId}-8f1d4c3a6b`,
      },
    });
}

export function edgeErrors(method: string, { access }: Operation): readonly ErrorCode[] {
  return [
    ...(access === 'open' ? [] : (['rate_limited'] as const)),
    ...(method === 'POST' ? (['idempotency_key_in_use', 'idempotency_key_reused'] as const) : []),
  ];
}

/** On any answer of an operation. A limit that is off, or not kept because Postgres is away, isn't told of. */
export function edgeHeaders({ access }: Operation): z.ZodRawShape {
  return access === 'open' ? {} : { 'RateLimit-Policy': rateLimitPolicy, RateLimit: rateLimit };
}

/** On its own answers, which alone are kept: a problem is never replayed. */
export function replayHeaders(method: string): z.ZodRawShape {
  return method === 'POST' ? { 'Idempotency-Replayed': idempotencyReplayed } : {};
}
