import type { IncomingMessage } from 'node:http';

/** The lower-cased type of a body, `application/json`, and its charset; both empty when there are none. */
export function mediaTypeOf(req: IncomingMessage): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((parameter) => parameter.trim().match(/^charset="?([^"]*)"?$/i)?.[1])
    .find((value) => value !== undefined);
  return { type: type.trim().toLowerCase(), charset: (charset ?? '').trim().toLowerCase() };
}
