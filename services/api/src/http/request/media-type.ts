import type { IncomingMessage } from 'node:http';

/** The media type and the charset of a body, both in lower case: `application/json`, `utf-8`. Empty when not given. */
export function mediaTypeOf(req: IncomingMessage): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((parameter) => parameter.trim().match(/^charset="?([^"]*)"?$/i)?.[1])
    .find((value) => value !== undefined);
  return { type: type.trim().toLowerCase(), charset: (charset ?? '').trim().toLowerCase() };
}
