import type { ErrorCode, FieldError, Job, Paste } from './api-types.ts';

/** What all errors of this client have in common. What an AbortSignal ends rejects with the signal's own reason instead. */
export abstract class PasteflowError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export interface ApiErrorFacts {
  /** Of the HTTP answer. */
  readonly status: number;
  /** Null when the answer was none of the API's own, e.g. a proxy's. */
  readonly code: ErrorCode | null;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  /** The X-Request-Id under which the request stands in the server's log. */
  readonly requestId: string | null;
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter: number | null;
}

/** The server refused, or failed. */
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

/** There was no answer, or half of one. Whether the server acted is unknown. */
export class PasteflowConnectionError extends PasteflowError {}

/** What was waited for has not come to its end in `timeoutMs`; it may yet. */
export class PasteflowTimeoutError extends PasteflowError {}

/** The upload was given up: the paste has no content, and `paste.failure_reason` says why. */
export class PasteFailedError extends PasteflowError {
  readonly paste: Paste;

  constructor(paste: Paste) {
    super(`the upload of paste ${paste.short_code} failed: ${paste.failure_reason ?? 'no reason given'}`);
    this.paste = paste;
  }
}

/** The job made nothing, and never will; a job that made a part of it is `partial`, and no error. */
export class JobFailedError extends PasteflowError {
  readonly job: Job;

  constructor(job: Job) {
    super(`job ${job.id} failed: ${job.error_message ?? 'no reason given'}`);
    this.job = job;
  }
}
