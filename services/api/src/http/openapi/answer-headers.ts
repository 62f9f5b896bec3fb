import { z } from 'zod';

function header(description: string, schema: z.ZodType = z.string()) {
  return schema.meta({ header: { description } });
}

/** Of many answers, therefore a component. */
function sharedHeader(id: string, description: string, schema: z.ZodType) {
  return schema.meta({ header: { id, description } });
}

const count = z.string().regex(/^\d+$/);

/** On every answer, therefore a component. */
export const xRequestId = z.string().meta({
  header: {
    id: 'X-Request-Id',
    description: 'The id of the request in logs and messages: the one that was sent, or a new one.',
  },
});
/** Lists of structured fields (RFC 9651): a quoted name with its parameters. */
function limits(parameters: string): z.ZodType {
  const item = `"[a-z_]+"${parameters}`;
  return z.string().regex(new RegExp(`^${item}(, ${item})*$`));
}

export const rateLimitPolicy = limits(';q=\\d+;w=\\d+')
  .optional()
  .meta({
    header: {
      id: 'RateLimit-Policy',
      description:
        'The limits that the request counts against: q requests, or bytes of new pastes, in w seconds. ' +
        'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/',
    },
  });
export const rateLimit = limits(';r=\\d+;t=\\d+')
  .optional()
  .meta({
    header: {
      id: 'RateLimit',
      description: 'For each limit, what is left (r) and the seconds until it is reset (t).',
    },
  });
export const idempotencyReplayed = header(
  'The answer is that of an earlier request with this Idempotency-Key.',
  z.literal('true').optional(),
);
export const madeIdempotencyKey = header(
  'The key by which this reader can repeat the request, which was sent without one.',
  z.string().optional(),
);
export const location = header('The URL of the paste.', z.url());
export const jobLocation = header('The URL of the job.', z.url());
export const webhookLocation = header('The URL of the endpoint.', z.url());
export const requestLocation = header('The URL of the request.', z.url());
export const retryAfter = header('Seconds after which to try again.', count);
export const retryAfterOfSome = header(
  "Seconds after which to try again; missing when that can't help.",
  count.optional(),
);
export const contentLength = header('The number of bytes.', count);
export const deleteToken = header(
  'Deletes an anonymous paste; only in this answer. A paste with an owner has none.',
  z.string().optional(),
);
export const etag = header(
  'A strong entity tag: the SHA-256 of the content, and `-gzip` when the body is compressed.',
  z.string().regex(/^"[0-9a-f]{64}(-gzip)?"$/),
);
export const etagOfFile = header(
  'A strong entity tag: the SHA-256 of the whole content, the offset of the file and its size.',
  z.string().regex(/^"[0-9a-f]{64}-\d+-\d+"$/),
);
export const etagOfArchive = header(
  'A strong entity tag: a SHA-256 of what the archive is made of.',
  z.string().regex(/^"[0-9a-f]{64}"$/),
);
export const contentDisposition = header('The name under which a browser saves the archive.');
export const etagOfDiff = header(
  'A strong entity tag: a SHA-256 of what the diff is made of. The patch and the page have different ones.',
  z.string().regex(/^"[0-9a-f]{64}(-gzip)?"$/),
);
export const acceptRanges = header('Range requests are supported.', z.literal('bytes'));
export const contentRange = header(
  'The served range and the size of the content; on 416 only the size.',
  z.string().regex(/^bytes (\d+-\d+|\*)\/\d+$/),
);
export const wwwAuthenticate = header('The credentials that are needed.');
export const allow = header('The methods of the route.');
export const vary = sharedHeader(
  'Vary',
  'The answer depends on Accept: a browser gets a page. The page depends on Accept-Language and on Cookie: it is in the language of its reader, and names the user who is signed in. Missing when the request was refused before its route was known.',
  z.enum(['Accept, Accept-Language, Cookie', 'Accept, Accept-Language, Cookie, Accept-Encoding']).optional(),
);
export const varyEncoding = header('The answer depends on Accept-Encoding.', z.literal('Accept-Encoding'));
export const gzipEncoding = sharedHeader(
  'Content-Encoding',
  'The content is compressed. None: it is not.',
  z.literal('gzip').optional(),
);
