import { z } from 'zod';

function header(description: string, schema: z.ZodType = z.string()) {
  return schema.meta({ header: { description } });
}

const count = z.string().regex(/^\d+$/);

/** On every answer, so it is a component. */
export const xRequestId = z.string().meta({
  header: {
    id: 'X-Request-Id',
    description: 'Names the request in logs and messages: the one that was sent, or a new one.',
  },
});
export const location = header('The URL of the paste.', z.url());
export const retryAfter = header('Whole seconds after which to try again.', count);
export const contentLength = header('The number of bytes.', count);
export const deleteToken = header('Deletes the paste; shown this once.');
export const etag = header(
  'The SHA-256 of the content, as a strong entity tag.',
  z.string().regex(/^"[0-9a-f]{64}"$/),
);
export const acceptRanges = header('Parts may be asked for by Range.', z.literal('bytes'));
export const contentRange = header(
  'The part and the size, or on 416 the size alone.',
  z.string().regex(/^bytes (\d+-\d+|\*)\/\d+$/),
);
export const wwwAuthenticate = header('Which credentials are wanted.');
export const allow = header('The methods that the route has.');
