import { z } from 'zod';
import * as headers from '../openapi/answer-headers.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { example } from './example.ts';
import { findErrors, namesPaste } from './find-named-paste.ts';

const path = namesPaste(example.burnCode);

/** The operation of revealPaste, at both of its paths. */
export const revealOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  refusesKey: true,
  summary: 'Reads a paste that is deleted when it is read: once, and never again.',
  description:
    'Of any number of requests one gets the content, byte for byte, and all others 410. The content is at hand before the paste is deleted, ' +
    'so that a 503 deletes nothing. A client that disconnects while it receives the content has read the paste. A body, an Idempotency-Key ' +
    'and a request that a browser sends from another site are refused. Ranges are not supported.',
  params: { path },
  answers: {
    200: {
      description: 'The content, which no other request gets.',
      headers: z.object({ 'Content-Length': headers.contentLength }),
      content: { 'text/plain': {} }, // any bytes, which no schema can express
    },
    503: {
      description: 'The upload is in progress: an empty body. Retry after the given time.',
      headers: z.object({ 'Retry-After': headers.retryAfter }),
    },
  },
  errors: [...findErrors, 'nothing_to_reveal', 'cross_site_request', 'validation_failed', 'overloaded'],
};
