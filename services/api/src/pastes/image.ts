import type { PasteRow } from '@pasteflow/postgres';
import { BEGINNING_BYTES } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { isKnownToClient, type ByteRange } from '../http/request/conditional.ts';
import * as headers from '../http/openapi/answer-headers.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { z } from 'zod';
import { findErrors, namedPaste } from './find-named-paste.ts';
import { assertStays, cachingOf, etagOf, findStored, sendContent } from './read-content.ts';
import { withKind } from './content-kind.ts';

/**
 * GET /:short_code/image: the bytes for the page of an image. Their first bytes name the type, never the
 * client or the title; `nosniff` and the sandbox of every answer hold for them, too.
 */
export function readImage(api: ApiContext): Endpoint {
  return {
    operation: {
      operationId: 'readImage',
      tag: 'pages',
      access: 'anyone',
      summary: 'Returns a PNG, JPEG, GIF, WebP or AVIF image with its type.',
      description: 'Any other content, such as SVG, is sent as plain text.',
      params: { path: namedPaste },
      answers: {
        200: {
          description: 'The content.',
          headers: z.object({ ETag: headers.etag }),
          content: {
            'image/png': {},
            'image/jpeg': {},
            'image/gif': {},
            'image/webp': {},
            'image/avif': {},
            'text/plain': {},
          },
        },
        304: {
          description: 'The client has the image: an empty body.',
          headers: z.object({ ETag: headers.etag }),
        },
        503: {
          description: 'The upload is in progress: an empty body. Retry after the given time.',
          headers: z.object({ 'Retry-After': headers.retryAfter }),
        },
      },
      errors: [...findErrors, 'reveal_required', 'overloaded'],
    },
    handle: async (req, res) => {
      const paste = await findStored(api, req, res, (found) => assertStays(api, found));
      if (paste === null) return;
      const etag = etagOf(paste.content_hash);
      res.set({ ETag: etag, 'Cache-Control': `${cachingOf(paste, res)}, no-transform` });
      if (isKnownToClient(req.get('If-None-Match'), etag)) {
        res.status(304).end();
        return;
      }
      const isHead = req.method === 'HEAD';
      await sendContent(api, paste, {
        req,
        res,
        requested: { paste, range: isHead ? beginningOf(paste) : undefined, accepts: null },
        head: () => res,
        async *render(body) {
          const { kind, bytes, discard } = await withKind(body);
          res.type(kind.startsWith('image/') ? kind : 'text/plain; charset=utf-8');
          if (isHead) await discard();
          else yield* bytes;
        },
      });
    },
  };
}

/** HEAD needs the type alone: a caller who takes no bytes must not make this process read them all. */
function beginningOf({ size_bytes: size }: PasteRow): ByteRange {
  return { start: 0, end: Math.min(size, BEGINNING_BYTES) - 1 };
}
