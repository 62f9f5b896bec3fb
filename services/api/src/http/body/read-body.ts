import type { IncomingMessage, ServerResponse } from 'node:http';
import { expectsContinue } from './drain.ts';
import { RequestError } from '../errors/request-error.ts';

/**
 * Reads a body of up to `maxBytes`. What announces more is refused before it is sent, what sends more while
 * it is being sent; the rest is left unread for whoever answers. Nothing is inflated.
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
    req.on('error', () => {}); // an aborted request emits 'error' and then 'close'; that one is acted on
  });
}

export function bodyIncomplete(): RequestError {
  return new RequestError(
    'request_incomplete',
    'The body ended before its announced end; send it again as a whole.',
  );
}

/**
 * A few kilobytes of gzip inflate to gigabytes, so content is taken as it is: a compressed file is sent
 * without Content-Encoding.
 */
function assertPlainEncoding(req: IncomingMessage): void {
  const { 'content-encoding': coding = 'identity', 'transfer-encoding': transfer = 'chunked' } = req.headers;
  if (/^identity$/i.test(coding.trim()) && /^chunked$/i.test(transfer.trim())) return;
  throw new RequestError(
    'unsupported_encoding',
    'Send the body as it is, without Content-Encoding or other codings.',
  );
}
