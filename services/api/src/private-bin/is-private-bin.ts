import type { IncomingMessage } from 'node:http';

/**
 * Whether the request comes from a client of PrivateBin's: all of them send this header, and no browser sends it by itself, so that a link
 * preview reads nothing here.
 */
export function isPrivateBin(req: IncomingMessage): boolean {
  return req.headers['x-requested-with'] === 'JSONHttpRequest';
}
