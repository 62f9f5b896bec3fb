import type { BufferedResponse } from './upstream.ts';

const CODES: Record<number, string> = {
  400: 'InvalidRequest',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  500: 'InternalError',
  503: 'SlowDown',
  507: 'InsufficientStorage',
};

/** An error response in the format of S3 (XML) or, for a request with a target, of SQS (JSON). */
export function awsError(status: number, target: string | undefined): BufferedResponse {
  const code = CODES[status] ?? 'InternalError';
  const message = 'Injected by the fault proxy';
  return target === undefined
    ? {
        status,
        rawHeaders: ['content-type', 'application/xml'],
        body: Buffer.from(
          `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
        ),
      }
    : {
        status,
        rawHeaders: ['content-type', 'application/x-amz-json-1.0'],
        body: Buffer.from(JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message })),
      };
}
