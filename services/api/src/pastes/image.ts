import type { PasteRow } from '@pasteflow/postgres';
import { BEGINNING_BYTES, kindOf, type ContentKind } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { isKnownToClient, type ByteRange } from '../http/request/conditional.ts';
import type { Endpoint } from '../http/openapi/endpoint.ts';
import { assertStays, cachingOf, etagOf, findStored, sendContent } from './read-content.ts';

/**
 * GET /:short_code/image: the bytes for the page of an image. Their first bytes name the type, never the
 * client or the title; `nosniff` and the sandbox of every answer hold for them, too.
 */
export function readImage(api: ApiContext): Endpoint {
  return {
    policy: { access: 'anyone', countsMisses: true },
    showsProblems: true,
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

/**
 * What the bytes are, and the bytes again. Reads only what is needed to know that. Call `discard` instead of
 * reading the bytes.
 */
export async function withKind(body: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<{
  readonly kind: ContentKind;
  /** All of a shorter content. */
  readonly beginning: Buffer;
  readonly bytes: AsyncGenerator<Buffer, void>;
  readonly discard: () => Promise<unknown>;
}> {
  const pieces = passed(body);
  const first: Buffer[] = [];
  let length = 0;
  while (length < BEGINNING_BYTES) {
    const { value, done } = await pieces.next();
    if (done === true || value === undefined) break;
    first.push(value);
    length += value.length;
  }
  const beginning = Buffer.concat(first);
  return {
    kind: kindOf(beginning),
    beginning,
    bytes: joined(beginning, pieces),
    discard: () => pieces.return(),
  };
}

async function* passed(body: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* body;
}

async function* joined(beginning: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  try {
    yield beginning;
    yield* rest;
  } finally {
    await rest.return();
  }
}
