import { RequestError } from '../errors/request-error.ts';

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
