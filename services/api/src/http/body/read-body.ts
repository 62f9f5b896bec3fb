import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectsContinue } from './drain.ts';
import { RequestError } from '../errors/request-error.ts';

/**
 * Reads a body of at most `maxBytes`. A body whose Content-Length is larger is refused before it is sent; a
 * body without one is refused as soon as it has sent more, and respondWithError drains the rest. Nothing is
 * decompressed.
 * @throws RequestError content_too_large, request_incomplete or unsupported_encoding
 */
export async function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  { maxBytes, tooLarge }: { maxBytes: number; tooLarge: () => RequestError },
): Promise<Buffer> {
  assertPlainEncoding(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (expectsContinue(req)) res.writeContinue();
  const chunks: Buffer[] = [];
  let bytes = 0;
  return await new Promise<Buffer>((resolve, reject) => {
    const settle = (act: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
      act();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      req.pause();
      settle(() => reject(tooLarge()));
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, bytes)));
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
function assertPlainEncoding(req: IncomingMessage): void {
  const { 'content-encoding': coding = 'identity', 'transfer-encoding': transfer = 'chunked' } = req.headers;
  if (/^identity$/i.test(coding.trim()) && /^chunked$/i.test(transfer.trim())) return;
  throw new RequestError(
    'unsupported_encoding',
    'Send the body without Content-Encoding, and with no Transfer-Encoding other than chunked.',
  );
}
