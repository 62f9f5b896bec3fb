import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectsContinue } from './drain.ts';
import { RequestError } from '../errors/request-error.ts';

export interface BodyLimit {
  readonly maxBytes: number;
  readonly tooLarge: () => RequestError;
}

/** Reads a whole body. @throws RequestError as readChunks */
export async function readBody(req: IncomingMessage, res: ServerResponse, limit: BodyLimit): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await readChunks(req, res, limit, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

/**
 * Reads a body of at most `maxBytes` and passes on each chunk. A body whose Content-Length is larger is
 * refused before it is sent; a body without one is refused as soon as it has sent more, and
 * respondWithError drains the rest. Nothing is decompressed. An error that `onChunk` throws ends the read.
 * @throws RequestError content_too_large, request_incomplete or unsupported_encoding
 */
export async function readChunks(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, tooLarge }: BodyLimit,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  assertPlainEncoding(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (expectsContinue(req)) res.writeContinue();
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const settle = (act: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      act();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw tooLarge();
        onChunk(chunk);
      } catch (error) {
        req.pause();
        settle(() => reject(error));
      }
    };
    const onEnd = (): void => settle(resolve);
    const onClose = (): void => settle(() => reject(bodyIncomplete()));
    req.on('data', onData).once('end', onEnd).once('close', onClose);
    req.on('error', () => {}); // an aborted request emits 'error' and then 'close', which rejects
  });
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
