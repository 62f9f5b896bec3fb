import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors/request-error.ts';

export interface MediaType {
  /** In lower case, e.g. `application/json`; empty: not given. */
  readonly type: string;
  /** In lower case, e.g. `utf-8`; empty: not given. */
  readonly charset: string;
}

/** The Content-Type of a request. */
export function mediaTypeOf(req: IncomingMessage): MediaType {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((parameter) => parameter.trim().match(/^charset="?([^"]*)"?$/i)?.[1])
    .find((value) => value !== undefined);
  return { type: type.trim().toLowerCase(), charset: (charset ?? '').trim().toLowerCase() };
}

/** @throws RequestError unsupported_media_type for JSON in a charset other than UTF-8 */
export function assertUtf8({ charset }: MediaType): void {
  if (charset === '' || charset === 'utf-8' || charset === 'utf8') return;
  throw new RequestError('unsupported_media_type', 'Send JSON encoded as UTF-8.');
}
