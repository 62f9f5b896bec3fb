import { z } from 'zod';
import * as headers from '../openapi/answer-headers.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.ts';
import { example } from './example.ts';
import { findErrors, namesPaste } from './find-named-paste.ts';
import { MIN_KEY_LENGTH } from './reader-key.ts';

const path = namesPaste(example.burnCode);

/** The operation of revealPaste, at both of its paths. */
export const revealOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  hasOwnKey: true,
  summary: 'Reads a paste that is deleted when it is read: once, and never again.',
  description:
    'Of any number of readers one gets the content, byte for byte, and all others 410. The whole content is at hand before the paste is ' +
    'deleted. The reader is known by the Idempotency-Key: a request with the same key gets the content again for five minutes, so that a ' +
    'client can repeat it after a 503 or when the answer breaks off. A takedown ends that. A body and a request that a browser sends ' +
    'from another site are refused. Ranges are not supported.',
  params: {
    path,
    header: z.object({
      'Idempotency-Key': z
        .string()
        .regex(IDEMPOTENCY_KEY)
        .min(MIN_KEY_LENGTH)
        .optional()
        .meta({
          param: {
            description:
              'A key that nobody can guess, such as a UUID: it gives access to the content for five minutes. Without one, the answer has the key that was made for the request.',
          },
        }),
    }),
  },
  answers: {
    200: {
      description: 'The content, which no other reader gets.',
      headers: z.object({
        'Content-Length': headers.contentLength,
        'Idempotency-Key': headers.madeIdempotencyKey,
      }),
      content: { 'text/plain': {} }, // any bytes, which no schema can express
    },
    503: {
      description: 'The upload is in progress: an empty body. Retry after the given time.',
      headers: z.object({
        'Retry-After': headers.retryAfter,
        'Idempotency-Key': headers.madeIdempotencyKey,
      }),
    },
  },
  errors: [...findErrors, 'nothing_to_reveal', 'cross_site_request', 'validation_failed', 'overloaded'],
};
