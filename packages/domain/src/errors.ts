/** Machine-readable error codes. The list is closed: HTTP answers and logs use these codes only. */
export const errorCodes = [
  'invalid_transition',
  'short_code_taken',
  'slug_taken',
  'slug_limit_reached',
  'paste_not_found',
  'paste_gone',
  'paste_taken_down',
  'paste_in_progress',
  'parent_not_found',
  'no_diff',
  'diff_unavailable',
  'reveal_required',
  'nothing_to_reveal',
  'job_not_found',
  'job_forbidden',
  'job_ended',
  'execution_taken',
  'idempotency_key_reused',
  'idempotency_key_in_use',
  'rate_limited',
  'content_empty',
  'content_too_large',
  'content_blocked',
  'malformed_request',
  'validation_failed',
  'unsupported_media_type',
  'unsupported_encoding',
  'request_timeout',
  'request_incomplete',
  'request_headers_too_large',
  'unauthorized',
  'cross_site_request',
  'route_not_found',
  'method_not_allowed',
  'range_not_satisfiable',
  'precondition_failed',
  'stream_unavailable',
  'overloaded',
  'dependency_unavailable',
  'malformed_message',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/**
 * The base class of all errors. `code` is for programs, `message` for people, and `cause` keeps the
 * underlying error.
 */
export class PasteflowError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * A transition that the machine's table does not allow (J3), or a compare-and-set that another process won.
 */
export class InvalidTransitionError extends PasteflowError {
  readonly machine: string;
  readonly from: string;
  readonly to: string;

  constructor(change: { machine: string; from: string; to: string }, options?: ErrorOptions) {
    super('invalid_transition', `Cannot transition from '${change.from}' to '${change.to}'`, options);
    this.machine = change.machine;
    this.from = change.from;
    this.to = change.to;
  }
}

/** A service that Pasteflow depends on. `oidc` is the identity provider of the operator. */
export type Dependency = 'postgres' | 's3' | 'sqs' | 'oidc';

/** A dependency does not answer. The caller may try again later. */
export class DependencyUnavailableError extends PasteflowError {
  readonly dependency: Dependency;

  constructor(
    dependency: Dependency,
    {
      message = `${dependency} does not answer at the moment; try again shortly.`,
      ...options
    }: ErrorOptions & { readonly message?: string } = {},
  ) {
    super('dependency_unavailable', message, options);
    this.dependency = dependency;
  }
}

/** An operator has blocked this content. No paste with it is created. */
export class ContentBlockedError extends PasteflowError {
  constructor() {
    super(
      'content_blocked',
      'The operator of this service has blocked this content, so no paste was created. Do not send it again.',
    );
  }
}

/** The paste from which a new paste was to be made: its creator can't read it. Why is not told: a private paste looks like none. */
export class ParentNotFoundError extends PasteflowError {
  constructor() {
    super(
      'parent_not_found',
      'You cannot read the paste that `parent` names: it does not exist, has expired, was deleted, or is deleted when it is read. Correct the short code, or send the paste without `parent`.',
    );
  }
}

/** J8: the job does not exist. */
export class JobNotFoundError extends PasteflowError {
  constructor() {
    super('job_not_found', 'There is no job with this id. Check the URL.');
  }
}

/** J8: the job exists and belongs to another user. */
export class JobForbiddenError extends PasteflowError {
  constructor() {
    super('job_forbidden', 'This job belongs to another user. Send a token of its owner.');
  }
}

/** The job has ended by itself, so that it can't be cancelled any more. */
export class JobEndedError extends PasteflowError {
  constructor(status: string) {
    super('job_ended', `This job is already ${status}. There is nothing left to cancel.`);
  }
}

/** Another process ended the execution before this write. Whoever runs the execution must stop its work. */
export class ExecutionTakenError extends PasteflowError {
  readonly executionId: string;

  constructor(executionId: string) {
    super('execution_taken', `Execution ${executionId} was ended by another process. Stop its work.`);
    this.executionId = executionId;
  }
}
