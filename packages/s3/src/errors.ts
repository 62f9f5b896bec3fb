import { S3ServiceException } from '@aws-sdk/client-s3';
import { DependencyUnavailableError } from '@pasteflow/domain';

/** A sentence for the timeline: the service's own code and status where it answered, else what went wrong on the way. */
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

/** There is more than one object can have here. It would be as much the next time. */
export class ObjectTooLargeError extends Error {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`An object can have up to ${maxBytes} bytes here.`);
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
