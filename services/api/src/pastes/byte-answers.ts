import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { ProblemCode } from '../http/answers/problem-codes.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Operation } from '../http/openapi/endpoint.ts';
import { optionalHeader } from '../http/openapi/formats.ts';
import { findErrors } from './find-named-paste.ts';

/** The request headers of an answer of bytes. @param etag the example of the documentation */
export function conditions(etag: string) {
  return {
    Range: optionalHeader(
      'The requested part. All bytes are served for several ranges and for a malformed one.',
      'bytes=0-4',
    ),
    'If-Range': optionalHeader(
      'Range applies only to the bytes with this ETag. With any other value all bytes are served.',
      etag,
    ),
    'If-None-Match': optionalHeader(
      'ETags of the bytes that the client has: 304 when one of them matches. A malformed value matches nothing.',
      etag,
    ),
    'If-Match': optionalHeader(
      'ETags of the expected bytes: 412 when none of them matches, and for a malformed value.',
      etag,
    ),
  };
}

/** The answers with bytes, or in their place. @param shape the headers of each */
export function byteAnswers(
  what: string,
  shape: z.ZodRawShape,
  ofWhole: z.ZodRawShape = {},
): Operation['answers'] {
  const bytes = (description: string, more: z.ZodRawShape): ZodOpenApiResponseObject => ({
    description,
    headers: z.object({ ...shape, 'Content-Length': headers.contentLength, ...more }),
    content: { 'text/plain': {} }, // any bytes, which no schema can express
  });
  return {
    200: bytes(`The ${what}.`, ofWhole),
    206: bytes('The requested part.', { 'Content-Range': headers.contentRange }),
    304: {
      description: `The client has the current ${what}: an empty body.`,
      headers: z.object(shape),
    },
    503: uploadInProgress,
  };
}

export const uploadInProgress = {
  description: 'The upload is in progress: an empty body. Retry after the given time.',
  headers: z.object({ 'Retry-After': headers.retryAfter }),
} satisfies ZodOpenApiResponseObject;

export const byteErrors = [
  ...findErrors,
  'reveal_required',
  'precondition_failed',
  'range_not_satisfiable',
  'overloaded',
] as const satisfies ProblemCode[];
