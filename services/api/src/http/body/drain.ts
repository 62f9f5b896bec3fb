import type { IncomingMessage } from 'node:http';
import { freeMemory } from './body-bytes.ts';

/**
 * A client may read the answer only after it has sent its whole body, and a socket that is closed with unread
 * bytes resets the connection, which loses the answer. So the rest of a refused body is read and discarded,
 * within these bounds.
 */
const DRAIN_MS = 5000;
const DRAIN_BYTES = 64 * 1024 * 1024;

/** Node itself discards a rest up to this size, and keeps the connection. */
const SMALL_REST_BYTES = 64 * 1024;

/** Whether much of the body may still arrive. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  if (req.complete || req.destroyed) return false;
  if (expectsContinue(req) || req.headers['transfer-encoding'] !== undefined) return true;
  return Number(req.headers['content-length'] ?? 0) > SMALL_REST_BYTES;
}

/** Whether the client waits for a 100 before it sends the body (RFC 9110, 10.1.1). */
export function expectsContinue(req: IncomingMessage): boolean {
  return req.httpVersion === '1.1' && /^100-continue$/i.test(req.headers.expect ?? '');
}

/** Discards the rest of a body, and calls `done` once: at its end, or at the first bound. */
export function drain(req: IncomingMessage, done: () => void): void {
  let bytes = 0;
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    freeMemory(chunk);
    if (bytes > DRAIN_BYTES) stop();
  };
  const stop = (): void => {
    clearTimeout(timer);
    req.off('data', onData).off('end', stop).off('close', stop);
    done();
  };
  const timer = setTimeout(stop, DRAIN_MS);
  req.on('data', onData).once('end', stop).once('close', stop);
  req.on('error', stop);
  req.resume();
}
