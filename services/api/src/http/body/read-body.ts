import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBytes } from './body-bytes.ts';
import { expectsContinue } from './drain.ts';
import { freeMemory } from './free-memory.ts';
import { RequestError } from '../errors/request-error.ts';

export interface BudgetOfBodies {
  /** Raises what a request holds to `bytes`. @throws RequestError overloaded */
  readonly reserve: (req: IncomingMessage, bytes: number) => void;
}

export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: () => RequestError;
  readonly budget: BudgetOfBodies;
  /** The bytes of memory that a byte of the body takes at the most until the request has been handled. */
  readonly weight: number;
}

/** A body that holds more than this of the budget must keep its pace. */
const SMALL_BODY_BYTES = 64 * 1024;

/** 10 MiB take 3 minutes at this pace; REQUEST_TIMEOUT_SECONDS allows less. */
const PACE = { bytes: 64 * 1024, windowMs: 10_000 };

/** Reads a whole body. @throws RequestError as readChunks */
export async function readBody(req: IncomingMessage, res: ServerResponse, limit: BodyLimit): Promise<Buffer> {
  const body = new BodyBytes(declaredBytes(req));
  await readChunks(req, res, limit, (chunk) => {
    body.add(chunk);
    freeMemory(chunk);
  });
  return body.bytes;
}

/**
 * Reads a body of at most `maxBytes` and passes on each chunk. A body whose Content-Length is larger is
 * refused before it is sent; a body without one is refused as soon as it has sent more, and
 * respondWithError drains the rest. Nothing is decompressed. An error that `onChunk` throws ends the read.
 * @throws RequestError content_too_large, overloaded, request_incomplete, request_timeout or
 * unsupported_encoding
 */
export async function readChunks(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, tooLarge, budget, weight }: BodyLimit,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  assertPlainEncoding(req);
  if (req.closed || res.closed) throw bodyIncomplete(); // no event would end the read
  const declared = declaredBytes(req);
  if (declared > maxBytes) throw tooLarge();
  budget.reserve(req, declared * weight);
  if (expectsContinue(req)) res.writeContinue();
  let bytes = 0;
  let bytesInWindow = 0;
  await new Promise<void>((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearInterval(pace);
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      res.off('close', onClose);
      act();
    };
    const refuse = (error: unknown): void => {
      req.pause();
      settle(() => reject(error));
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      bytesInWindow += chunk.length;
      try {
        if (bytes > maxBytes) throw tooLarge();
        budget.reserve(req, bytes * weight);
        onChunk(chunk);
      } catch (error) {
        refuse(error);
      }
    };
    const pace = setInterval(() => {
      if (Math.max(declared, bytes) > SMALL_BODY_BYTES && bytesInWindow < PACE.bytes) refuse(tooSlow());
      bytesInWindow = 0;
    }, PACE.windowMs);
    const onEnd = (): void => settle(resolve);
    const onClose = (): void => settle(() => reject(bodyIncomplete()));
    req.on('data', onData).once('end', onEnd).once('close', onClose);
    res.once('close', onClose); // Node forgets a request that is answered before its end, and emits nothing more on it
    req.on('error', () => {}); // an aborted request emits 'error' and then 'close', which rejects
  });
}

/** The Content-Length of a body; 0: it has none. */
function declaredBytes(req: IncomingMessage): number {
  return Number(req.headers['content-length'] ?? 0);
}

function tooSlow(): RequestError {
  return new RequestError(
    'request_timeout',
    `The body arrived with fewer than ${PACE.bytes} bytes in ${PACE.windowMs / 1000} s. Send it again over a faster connection.`,
  );
}

export function bodyIncomplete(): RequestError {
  return new RequestError(
    'request_incomplete',
    'The body ended before it was complete. Send the whole request again.',
  );
}

/**
 * A few kilobytes of gzip decompress to gigabytes, so bodies are stored as they are sent. A client sends a
 * compressed file without Content-Encoding.
 */
export function assertPlainEncoding(req: IncomingMessage): void {
  const { 'content-encoding': coding = 'identity', 'transfer-encoding': transfer = 'chunked' } = req.headers;
  if (/^identity$/i.test(coding.trim()) && /^chunked$/i.test(transfer.trim())) return;
  throw new RequestError(
    'unsupported_encoding',
    'Send the body without Content-Encoding, and with no Transfer-Encoding other than chunked.',
  );
}
