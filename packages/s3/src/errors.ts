import { S3ServiceException } from '@aws-sdk/client-s3';
import { DependencyUnavailableError } from '@pasteflow/domain';

/** A sentence for the timeline: the status and error code of S3's response, or the network error when there was no response. */
export function describeS3Error(error: unknown): string {
  if (error instanceof S3ServiceException) {
    return `S3 answered ${error.$metadata.httpStatusCode ?? '?'} ${error.name}`;
  }
  if (Error.isError(error)) {
    const code = (error as { code?: unknown }).code;
    return `S3 did not answer: ${typeof code === 'string' ? `${code} ` : ''}${error.message}`.slice(0, 500);
  }
  return 'S3 did not answer';
}

/** The content exceeds the maximum size of an object. Another attempt would fail in the same way. */
export class ObjectTooLargeError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The content exceeds the maximum object size of ${maxBytes} bytes.`);
    this.name = 'ObjectTooLargeError';
    this.maxBytes = maxBytes;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404;
}

export function unavailable(error: unknown): DependencyUnavailableError {
  return new DependencyUnavailableError('s3', { cause: error });
}
