import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBytes, freeMemory } from './body-bytes.ts';
import { expectsContinue } from './drain.ts';
import { RequestError } from '../answers/request-error.ts';

/** A body that is being read. */
export interface BodyReading {
  /** Counts the bytes that have arrived so far. @throws RequestError overloaded */
  readonly arrived: (bytes: number) => void;
  /** Call it when no more of the body will arrive. */
  readonly ended: () => void;
}

export interface BudgetOfBodies {
  /** How long the headers and the body of a request may take to arrive. */
  readonly timeLimitMs: number;
  /** @throws RequestError overloaded */
  readonly begin: (req: IncomingMessage, body: BegunBody) => BodyReading;
}

export interface BegunBody {
  /** The Content-Length; 0: there is none. */
  readonly declared: number;
  readonly weight: number;
  /** Called when the body is refused because it has stopped arriving and others need its room. */
  readonly giveWay: (error: RequestError) => void;
}

export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: () => RequestError;
  readonly budget: BudgetOfBodies;
  /** The bytes of memory that a byte of the body takes at the most until the request has been handled. */
  readonly weight: number;
}

/** A body is judged by what arrives in each third of the request's time limit, and at least this often. */
const WINDOWS = 3;
const MAX_WINDOW_MS = 20_000;

/**
 * A body without a Content-Length is judged as if it had declared this, or what it has sent if that is more.
 */
const UNDECLARED_BYTES = 64 * 1024;

/** How many bytes must arrive in `ms`, so that the body ends within the time limit of its request. */
export function demandedBytes(
  { declared, arrived }: { readonly declared: number; readonly arrived: number },
  ms: number,
  timeLimitMs: number,
): number {
  return ((declared || Math.max(UNDECLARED_BYTES, arrived)) * ms) / timeLimitMs;
}

/** Reads a whole body. @throws RequestError as readChunks */
export async function readBody(req: IncomingMessage, res: ServerResponse, limit: BodyLimit): Promise<Buffer> {
  const body = new BodyBytes(declaredBytes(req));
  try {
    await readChunks(req, res, limit, (chunk) => {
      body.add(chunk);
      freeMemory(chunk);
    });
  } catch (error) {
    body.free();
    throw error;
  }
  return body.bytes;
}

/**
 * Reads a body of at most `maxBytes` and passes on each chunk. A body whose Content-Length is larger is
 * refused before it is sent; a body without one is refused as soon as it has sent more, and respondWithError
 * drains the rest. In each window a body must deliver the part of its Content-Length that lets it end within
 * the request's time limit. Nothing is decompressed. An error that `onChunk` throws ends the read.
 * @throws RequestError content_too_large, overloaded, request_incomplete, request_timeout or
 *   unsupported_encoding
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
  let giveWay: (error: unknown) => void = () => {};
  const reading = budget.begin(req, { declared, weight, giveWay: (error) => giveWay(error) });
  if (expectsContinue(req)) res.writeContinue();
  const windowMs = Math.min(MAX_WINDOW_MS, budget.timeLimitMs / WINDOWS);
  let bytes = 0;
  let bytesInWindow = 0;
  let isSettled = false;
  await new Promise<void>((resolve, reject) => {
    const settle = (act: () => void): void => {
      isSettled = true;
      clearInterval(pace);
      reading.ended();
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      res.off('close', onClose);
      act();
    };
    const refuse = (error: unknown): void => {
      req.pause();
      settle(() => reject(error));
    };
    giveWay = refuse;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      bytesInWindow += chunk.length;
      try {
        if (bytes > maxBytes) throw tooLarge();
        reading.arrived(bytes);
        onChunk(chunk);
      } catch (error) {
        refuse(error);
      }
    };
    const judge = (): void => {
      const demanded = demandedBytes({ declared, arrived: bytes }, windowMs, budget.timeLimitMs);
      if (bytesInWindow < demanded) refuse(tooSlow(demanded, windowMs));
      bytesInWindow = 0;
    };
    // After a poll: what has arrived while this process was busy counts.
    const pace = setInterval(() => setImmediate(() => !isSettled && judge()), windowMs);
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

function tooSlow(bytes: number, ms: number): RequestError {
  return new RequestError(
    'request_timeout',
    `The body arrived with fewer than ${Math.ceil(bytes)} bytes in ${ms / 1000} s. Send it again over a faster connection.`,
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
