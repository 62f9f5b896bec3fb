import { S3ServiceException } from '@aws-sdk/client-s3';
import type { Answer } from './collected-answer.ts';

/** The error that the SDK makes of an answer: its name is the code of S3. The text is XML, or anything else when a proxy has answered. */
export function answerError({ statusCode, headers, text }: Answer): S3ServiceException {
  const code = elementOf(text, 'Code') ?? 'UnknownError';
  return new S3ServiceException({
    name: code,
    message: elementOf(text, 'Message') ?? code,
    $fault: statusCode >= 500 ? 'server' : 'client',
    $metadata: {
      httpStatusCode: statusCode,
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
