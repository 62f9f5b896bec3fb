import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { RequestError, validate, validationFailed } from '../answers/request-error.ts';

/**
 * The query, validated by its schema. URLSearchParams is not used: it reads broken percent-encoding as text,
 * and bytes that are not UTF-8 as U+FFFD.
 * @throws RequestError malformed_request for either, and validation_failed, also for a repeated parameter
 */
export function readQuery<T>(req: IncomingMessage, schema: z.ZodType<T>): T {
  const text = (req.url ?? '').split('?').slice(1).join('?');
  const parameters = new Map<string, string>();
  for (const pair of text.split('&').filter((each) => each !== '')) {
    const [name = '', ...value] = pair.split('=').map(decode);
    if (parameters.has(name)) throw validationFailed([{ path: name, message: 'must not be repeated' }]);
    parameters.set(name, value.join('='));
  }
  return validate(schema, Object.fromEntries(parameters));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new RequestError(
      'malformed_request',
      'Correct the percent-encoding of the query and send the request again.',
      { cause: error },
    );
  }
}
