import type { ContentEncoding } from '@pasteflow/domain';
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import * as headers from '../openapi/answer-headers.ts';
import type { Operation } from '../openapi/endpoint.ts';
import { optionalHeader } from '../openapi/formats.ts';
import { example } from './example.ts';
import { findErrors, namedPaste } from './find-named-paste.ts';

/**
 * A strong entity tag: equal tags mean equal bytes, so that the compressed form of content has another
 * one (RFC 9110, 8.8.3.3).
 * @param contentHash `sha256:` and 64 hex digits
 */
export function etagOf(contentHash: string, encoding: ContentEncoding | null = null): string {
  const hash = contentHash.slice('sha256:'.length);
  return encoding === null ? `"${hash}"` : `"${hash}-${encoding}"`;
}

const tags = { ETag: headers.etag, 'Accept-Ranges': headers.acceptRanges, Vary: headers.varyEncoding };
const etag = etagOf(example.contentHash);

function bytes(description: string, more: z.ZodRawShape = {}): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({ ...tags, 'Content-Length': headers.contentLength, ...more }),
    content: { 'text/plain': {} }, // any bytes, which no schema can express
  };
}

/** The operation of readContent, at both of its paths. */
export const contentOperation: Omit<Operation, 'operationId'> = {
  tag: 'pastes',
  access: 'anyone',
  summary: 'Reads the content of a paste, byte for byte.',
  description:
    'A read waits about a second for an upload in progress. A paste whose upload failed is answered with 404. HEAD ignores Range, and tells no Content-Length of a compressed content. A caller who downloads too much at the same time gets 429, and ' +
    'the connection of a client that reads too slowly is cut.',
  params: {
    path: namedPaste,
    header: z.object({
      Range: optionalHeader(
        'The requested part. The whole content is served for several ranges and for a malformed one.',
        'bytes=0-4',
      ),
      'If-Range': optionalHeader(
        'Range applies only to the content with this ETag. With any other value the whole content is served.',
        etag,
      ),
      'If-None-Match': optionalHeader(
        'ETags of the content that the client has: 304 when one of them matches. A malformed value matches nothing.',
        etag,
      ),
      'If-Match': optionalHeader(
        'ETags of the expected content: 412 when none of them matches, and for a malformed value.',
        etag,
      ),
      'Accept-Encoding': optionalHeader(
        'Content that is stored compressed is sent as it is stored to clients that name its encoding, `gzip`. A part is never compressed.',
        'gzip',
      ),
    }),
  },
  answers: {
    200: bytes('The content.', { 'Content-Encoding': headers.gzipEncoding }),
    206: bytes('The requested part.', { 'Content-Range': headers.contentRange }),
    304: { description: 'The client has the current content: an empty body.', headers: z.object(tags) },
    503: {
      description: 'The upload is in progress: an empty body. Retry after the given time.',
      headers: z.object({ 'Retry-After': headers.retryAfter }),
    },
  },
  errors: [...findErrors, 'reveal_required', 'precondition_failed', 'range_not_satisfiable', 'overloaded'],
};
