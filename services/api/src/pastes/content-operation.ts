import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import * as headers from '../openapi/answer-headers.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { etagOf } from './etag.ts';
import { example } from './example.ts';
import { findErrors, namedPaste } from './find-named-paste.ts';

const tags = { ETag: headers.etag, 'Accept-Ranges': headers.acceptRanges };
const etag = etagOf(example.contentHash);

function field(description: string, value: string) {
  return z
    .string()
    .optional()
    .meta({ param: { description, example: value } });
}

function bytes(description: string, more: z.ZodRawShape = {}): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({ ...tags, 'Content-Length': headers.contentLength, ...more }),
    content: { 'text/plain': {} }, // any bytes at all: no schema says it
  };
}

/** What readContent does, at both of its paths. */
export const contentOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  summary: 'Reads the content of a paste, byte for byte.',
  description: 'A paste whose upload failed is not found. HEAD ignores Range.',
  params: {
    path: namedPaste,
    header: z.object({
      Range: field(
        'The one part that is wanted; several of them, or what is malformed, get the whole.',
        'bytes=0-4',
      ),
      'If-Range': field('The ETag with which Range counts.', etag),
      'If-None-Match': field('ETags of content that need not be sent again.', etag),
      'If-Match': field('ETags of content that is wanted and no other.', etag),
    }),
  },
  answers: {
    200: bytes('The content.'),
    206: bytes('The part that Range names.', { 'Content-Range': headers.contentRange }),
    304: { description: 'The client has this content: an empty body.', headers: z.object(tags) },
    503: {
      description: 'Its upload is under way: an empty body.',
      headers: z.object({ 'Retry-After': headers.retryAfter }),
    },
  },
  errors: [...findErrors, 'precondition_failed', 'range_not_satisfiable'],
};
