import type { ErrorCode, FieldError, Job, Paste } from './api-types.ts';

/** The base class of all errors of this client. A call that an AbortSignal ends rejects with the signal's reason instead. */
export abstract class PasteflowError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export interface ApiErrorFacts {
  /** Of the HTTP response. */
  readonly status: number;
  /** Null when the response is not the API's own but, for example, a proxy's. */
  readonly code: ErrorCode | null;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  /** The X-Request-Id of the request in the server's log. */
  readonly requestId: string | null;
  /** Seconds after which the request may be sent again. */
  readonly retryAfter: number | null;
}

/** The server refused the request, or failed. */
export class PasteflowApiError extends PasteflowError implements ApiErrorFacts {
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | null;
  readonly retryAfter: number | null;

  constructor(facts: ApiErrorFacts) {
    const fields = facts.errors.map(({ path, message }) => `; ${path} ${message}`).join('');
    super(`${facts.status}${facts.code === null ? '' : ` ${facts.code}`}: ${facts.detail}${fields}`);
    this.status = facts.status;
    this.code = facts.code;
    this.detail = facts.detail;
    this.errors = facts.errors;
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
  }
}

/** There was no response, or an incomplete one. Whether the server executed the request is unknown. */
export class PasteflowConnectionError extends PasteflowError {}

/** The paste or job did not end within `timeoutMs`. It may still end later. */
export class PasteflowTimeoutError extends PasteflowError {}

/** The upload failed: the paste has no content. `paste.failure_class` says why, and to the owner also `paste.failure_reason`. */
export class PasteFailedError extends PasteflowError {
  readonly paste: Paste;

  constructor(paste: Paste) {
    super(
      `the upload of paste ${paste.short_code} failed: ${paste.failure_reason ?? paste.failure_class ?? 'no reason given'}`,
    );
    this.paste = paste;
  }
}

/** The job failed and made nothing. A job that did a part of its work is `partial`, which is no error. */
export class JobFailedError extends PasteflowError {
  readonly job: Job;

  constructor(job: Job) {
    super(`job ${job.id} failed: ${job.error_message ?? 'no reason given'}`);
    this.job = job;
  }
}
