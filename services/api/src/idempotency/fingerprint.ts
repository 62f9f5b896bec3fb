import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { mediaTypeOf } from '../http/request/media-type.ts';

/**
 * SHA-256 of all that tells two requests apart. `said` is what was read from the body, not its bytes: whoever sends a form again mostly gets
 * another boundary for it, and means the same. It has a digest for the content, which is hashed once and not again for this.
 */
export function fingerprintOf(req: Request, said: string): Buffer {
  const { type, charset } = mediaTypeOf(req);
  const all = [req.method, req.url, type, charset, said]; // the URL with its query
  return createHash('sha256').update(JSON.stringify(all)).digest();
}
