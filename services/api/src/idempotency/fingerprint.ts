import { hash } from 'node:crypto';
import type { Request } from 'express';
import { mediaTypeOf } from '../http/request/media-type.ts';

/**
 * SHA-256 of what distinguishes two requests. `fingerprintInput` is the meaning of the body rather than its
 * bytes, because a client that sends a form again usually sends another boundary. It contains a digest of the
 * content, so that the content is hashed once.
 */
export function fingerprintOf(req: Request, fingerprintInput: string): Buffer {
  const { type, charset } = mediaTypeOf(req);
  const distinctive = [req.method, req.url, type, charset, fingerprintInput]; // the URL has the query
  return hash('sha256', JSON.stringify(distinctive), 'buffer');
}
