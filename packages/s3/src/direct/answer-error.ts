import { S3ServiceException } from '@aws-sdk/client-s3';

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** XML. Empty, or anything else, when a proxy has answered. */
  readonly text: string;
}

/** The error that the SDK makes of such an answer: its name is the code of S3. */
export function answerError({ status, headers, text }: ErrorAnswer): S3ServiceException {
  const code = elementOf(text, 'Code') ?? 'UnknownError';
  return new S3ServiceException({
    name: code,
    message: elementOf(text, 'Message') ?? code,
    $fault: status >= 500 ? 'server' : 'client',
    $metadata: {
      httpStatusCode: status,
      ...textField('requestId', headers['x-amz-request-id']),
      ...textField('extendedRequestId', headers['x-amz-id-2']),
    },
  });
}

function elementOf(xml: string, name: 'Code' | 'Message'): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}

function textField(name: string, value: string | string[] | undefined): Record<string, string> {
  return typeof value === 'string' ? { [name]: value } : {};
}

/** As far as S3 itself tolerates: 15 minutes. Below it, the signature was refused for another reason. */
const MAX_SKEW_MS = 15 * 60 * 1000;

/**
 * How far this process's clock is behind the clock of S3, when S3 refused the request for that; null: it was refused for another
 * reason. The SDK corrects its own requests in the same way.
 */
export function clockSkewMs({ status, headers }: ErrorAnswer, now = Date.now()): number | null {
  if (status !== 403 || typeof headers.date !== 'string') return null;
  const skew = Date.parse(headers.date) - now;
  return Math.abs(skew) >= MAX_SKEW_MS ? skew : null;
}
