import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors/request-error.ts';
import { mediaTypeOf } from '../request/media-type.ts';

/** @throws RequestError unsupported_media_type when Content-Type names a charset other than UTF-8 */
export function assertUtf8(req: IncomingMessage): void {
  const { charset } = mediaTypeOf(req);
  if (charset === '' || charset === 'utf-8' || charset === 'utf8') return;
  throw new RequestError('unsupported_media_type', 'Send JSON encoded as UTF-8.');
}

/** @throws RequestError malformed_request */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw new RequestError(
      'malformed_request',
      'The body is not valid JSON in UTF-8. Correct it and send the request again.',
      {
        cause: error,
      },
    );
  }
}
