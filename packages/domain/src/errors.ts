/** Machine-readable names of everything that can go wrong. The list is closed: HTTP answers and logs use only these. */
export const errorCodes = [
  'invalid_transition',
  'short_code_taken',
  'paste_not_found',
  'paste_gone',
  'paste_in_progress',
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

/** Something that Pasteflow stands on did not answer. Trying again later is right. */
export class DependencyUnavailableError extends PasteflowError {
  readonly dependency: 'postgres' | 's3' | 'sqs';

  constructor(dependency: 'postgres' | 's3' | 'sqs', options?: ErrorOptions) {
    super(
      'dependency_unavailable',
      `${dependency} does not answer at the moment; try again shortly.`,
      options,
    );
    this.dependency = dependency;
  }
}
