/** Machine-readable names of everything that can go wrong. The list is closed: HTTP answers and logs use only these. */
export const errorCodes = [
  'invalid_transition',
  'short_code_taken',
  'paste_not_found',
  'paste_gone',
  'paste_in_progress',
  'job_not_found',
  'job_forbidden',
  'execution_taken',
  'idempotency_key_reused',
  'idempotency_key_in_use',
  'rate_limited',
  'content_empty',
  'content_too_large',
  'malformed_request',
  'validation_failed',
  'unsupported_media_type',
  'unsupported_encoding',
  'request_timeout',
  'request_incomplete',
  'request_headers_too_large',
  'unauthorized',
  'route_not_found',
  'method_not_allowed',
  'range_not_satisfiable',
  'precondition_failed',
  'stream_unavailable',
  'dependency_unavailable',
  'malformed_message',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** The one base class: `code` says what went wrong to a program, `message` to a person, `cause` keeps what was underneath. */
export class PasteflowError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A change of state that is not in the machine's table (J3), or that lost its compare-and-set. */
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

/** `oidc` is the operator's identity provider. */
export type Dependency = 'postgres' | 's3' | 'sqs' | 'oidc';

/** Something that Pasteflow stands on did not answer. Trying again later is right. */
export class DependencyUnavailableError extends PasteflowError {
  readonly dependency: Dependency;

  constructor(dependency: Dependency, options?: ErrorOptions) {
    super(
      'dependency_unavailable',
      `${dependency} does not answer at the moment; try again shortly.`,
      options,
    );
    this.dependency = dependency;
  }
}

/** J8: there is no such job. */
export class JobNotFoundError extends PasteflowError {
  constructor() {
    super('job_not_found', 'There is no job of this id; check the URL.');
  }
}

/** J8: there is such a job, but it is another user's. */
export class JobForbiddenError extends PasteflowError {
  constructor() {
    super('job_forbidden', "This job is another user's; use a token of its owner.");
  }
}

/** The execution that wanted to write has been ended by someone else: whoever ran it must drop its work. */
export class ExecutionTakenError extends PasteflowError {
  readonly executionId: string;

  constructor(executionId: string) {
    super('execution_taken', `Execution ${executionId} has been ended by someone else.`);
    this.executionId = executionId;
  }
}
