import type { IncomingMessage } from 'node:http';
import { RequestError } from '../answers/request-error.ts';

export interface MediaType {
  /** In lower case, e.g. `application/json`; empty: not given. */
  readonly type: string;
  /** In lower case, e.g. `utf-8`; empty: not given. */
  readonly charset: string;
}

/** A type, a charset and a boundary of 70 characters fit several times. */
const MAX_CONTENT_TYPE_LENGTH = 1024;

/** @throws RequestError malformed_request for a Content-Type that is too long */
export function mediaTypeOf(req: IncomingMessage): MediaType {
  const { type, parameters } = contentTypeOf(req);
  return { type, charset: (parameters.get('charset') ?? '').trim().toLowerCase() };
}

/**
 * The type and the parameters, with names in lower case. The first of several parameters of a name counts.
 * @throws RequestError malformed_request for a Content-Type that is too long
 */
export function contentTypeOf(req: IncomingMessage): {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
} {
  const field = req.headers['content-type'] ?? '';
  if (field.length > MAX_CONTENT_TYPE_LENGTH) {
    throw new RequestError(
      'malformed_request',
      `Send a Content-Type of at most ${MAX_CONTENT_TYPE_LENGTH} characters.`,
    );
  }
  const [type = '', ...parts] = field.split(';');
  const parameters = new Map<string, string>();
  for (const part of parts) {
    const [name = '', ...value] = part.split('=');
    const key = name.trim().toLowerCase();
    if (value.length > 0 && !parameters.has(key)) parameters.set(key, unquote(value.join('=').trim()));
  }
  return { type: type.trim().toLowerCase(), parameters };
}

function unquote(value: string): string {
  return value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value;
}

/** @throws RequestError unsupported_media_type for JSON in a charset other than UTF-8 */
export function assertUtf8({ charset }: MediaType): void {
  if (charset === '' || charset === 'utf-8' || charset === 'utf8') return;
  throw new RequestError('unsupported_media_type', 'Send JSON encoded as UTF-8.');
}
