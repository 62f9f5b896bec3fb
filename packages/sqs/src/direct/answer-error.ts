import { SQSServiceException } from '@aws-sdk/client-sqs';
import type { ErrorAnswer } from '@pasteflow/signed-requests';

/** The error that the SDK makes of such an answer: its name is the code of SQS. */
export function answerError({ status, headers, text }: ErrorAnswer): SQSServiceException {
  const { __type, message, Message } = fieldsOf(text);
  const name = /^(?:[\w.]*#)?(\w+)/.exec(__type ?? '')?.[1] ?? 'UnknownError';
  const requestId = headers['x-amzn-requestid'];
  return new SQSServiceException({
    name,
    message: message ?? Message ?? name,
    $fault: status >= 500 ? 'server' : 'client',
    $metadata: { httpStatusCode: status, ...(typeof requestId === 'string' && { requestId }) },
  });
}

function fieldsOf(json: string): Partial<Record<'__type' | 'message' | 'Message', string>> {
  try {
    return JSON.parse(json) as object;
  } catch {
    return {}; // a proxy's
  }
}
