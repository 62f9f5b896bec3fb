import { S3ServiceException } from '@aws-sdk/client-s3';
import { DependencyUnavailableError, storedReason } from '@pasteflow/domain';
import type { ErrorAnswer } from '@pasteflow/signed-requests';

/**
 * A status of S3 that says that S3 itself has failed or is too busy, rather than that the request was wrong.
 */
const isOwnFailure = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/**
 * A text for the owner of a paste: the status and error code of S3's answer, or the code of the network
 * error. It leaves out the message, which names hosts and modules; the log has the error itself.
 */
export function describeS3Error(error: unknown): string {
  if (error instanceof ObjectNotStoredError)
    return 'S3 answered that it has stored the object, but does not have it with these bytes';
  if (error instanceof NotReadBackError)
    return `S3 stored the object, but the worker could not read it back: ${describeS3Error(error.cause)}`;
  if (error instanceof S3ServiceException) {
    return `S3 answered ${error.$metadata.httpStatusCode ?? '?'}${/^\w{1,64}$/.test(error.name) ? ` ${error.name}` : ''}`;
  }
  if (refusalOf(error) === 'credentials') return 'the service has no credentials for S3';
  const code = Error.isError(error) ? (error as { code?: unknown }).code : undefined;
  return `S3 did not answer${typeof code === 'string' && /^[A-Z][A-Z\d_]{0,39}$/.test(code) ? `: ${code}` : ''}`;
}

/** What S3, or the SDK before it asks S3, says of credentials. It is never about one object. */
const ABOUT_CREDENTIALS = ['InvalidAccessKeyId', 'ExpiredToken', 'InvalidToken', 'CredentialsProviderError'];

/** Whether S3 has refused a request: because of what it asks for (`object`), or certainly because of who asks. */
export function refusalOf(error: unknown): 'object' | 'credentials' | null {
  const answer = error instanceof NotReadBackError ? error.cause : error;
  if (Error.isError(answer) && ABOUT_CREDENTIALS.includes(answer.name)) return 'credentials';
  if (!(answer instanceof S3ServiceException)) return null;
  const status = answer.$metadata.httpStatusCode;
  return status === undefined || isOwnFailure(status) ? null : 'object';
}

/** The stored reason of a request to S3 that has failed. */
export function reasonOfS3Error(error: unknown): string {
  const isRefused = refusalOf(error) !== null;
  return storedReason(isRefused ? 'storage_refused' : 'storage_unavailable', describeS3Error(error));
}

/** S3 answered a put with success, and then had no object with these bytes. */
export class ObjectNotStoredError extends Error {
  constructor(options?: ErrorOptions) {
    super('S3 answered that it has stored the object, but does not have it with these bytes.', options);
    this.name = 'ObjectNotStoredError';
  }
}

/** S3 answered a put with success, and then did not let the object be read. */
export class NotReadBackError extends Error {
  constructor(options: ErrorOptions) {
    super('S3 stored the object, but the worker could not read it back.', options);
    this.name = 'NotReadBackError';
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404;
}

export function isRangeRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 416;
}

/** Refusals of the clock, and of a body that has arrived damaged. */
const REFUSED_FOR_ANOTHER_REASON = [
  'RequestTimeTooSkewed',
  'BadDigest',
  'InvalidDigest',
  'XAmzContentSHA256Mismatch',
];

/**
 * S3 does not grant the request in this form. Another state of the object, or of S3, would not change the
 * answer.
 */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || REFUSED_FOR_ANOTHER_REASON.includes(error.name)) return false;
  const { httpStatusCode: status = 0 } = error.$metadata;
  return status === 501 || (status >= 400 && status < 500 && ![404, 408, 412, 416, 429].includes(status));
}

/** The store has no such request: 501 of S3Proxy and others, 405 of lakeFS. */
export function isUnknownRequest(error: unknown): boolean {
  return error instanceof S3ServiceException && [405, 501].includes(error.$metadata.httpStatusCode ?? 0);
}

export function unavailable(error: unknown): DependencyUnavailableError {
  return new DependencyUnavailableError('s3', { cause: error });
}

/**
 * The error that the SDK makes of an answer: its name is the code of S3. The text is XML, or anything else
 * when a proxy has answered.
 */
export function answerError({ statusCode, headers, text }: ErrorAnswer): S3ServiceException {
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
