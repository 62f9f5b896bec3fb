import type { IncomingMessage } from 'node:http';

/**
 * A client that is still sending when it is refused may not read the answer before it has sent everything,
 * and a socket that is closed with bytes unread resets the connection: the answer would be lost. So the rest
 * is read and thrown away, within these bounds.
 */
const DRAIN_MS = 5000;
const DRAIN_BYTES = 64 * 1024 * 1024;

/** Rests up to here are left to Node, which reads them away by itself and keeps the connection. */
const SMALL_REST_BYTES = 64 * 1024;

/** Whether a good deal of the body may still be to come. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  if (req.complete || req.destroyed) return false;
  if (expectsContinue(req) || req.headers['transfer-encoding'] !== undefined) return true;
  return Number(req.headers['content-length'] ?? 0) > SMALL_REST_BYTES;
}

/** The client waits for a 100 before it sends the body: RFC 9110, 10.1.1. */
export function expectsContinue(req: IncomingMessage): boolean {
  return req.httpVersion === '1.1' && /^100-continue$/i.test(req.headers.expect ?? '');
}

/**
 * Reads the rest of a body away and calls `done` once: at its end, or when it has taken too long or is too
 * much.
 */
export function drain(req: IncomingMessage, done: () => void): void {
  let bytes = 0;
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
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
