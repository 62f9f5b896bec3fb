/**
 * Machine-readable codes of what the domain refuses; the list is closed. The api has further codes for what
 * is wrong with a request.
 */
export type ErrorCode =
  | 'invalid_transition'
  | 'parent_not_found'
  | 'job_not_found'
  | 'job_forbidden'
  | 'job_ended'
  | 'job_not_retryable'
  | 'execution_taken'
  | 'content_blocked'
  | 'quota_exceeded'
  | 'storage_full'
  | 'dependency_unavailable'
  | 'malformed_message';

/** The base class. `code` is for programs, `message` for people; `cause` is the underlying error. */
export class PasteflowError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * A transition that the machine's table does not allow, or a compare-and-set that another process won.
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

/** A quota that a new paste would exceed: of the pastes or bytes of its user, or of all together. */
export interface UsedUpQuota {
  readonly quota: 'pastes' | 'bytes' | 'stored_pastes' | 'stored_bytes';
  readonly used: number;
  readonly allowed: number;
}

/** A quota does not allow the paste. Nothing was created. */
export class QuotaExceededError extends PasteflowError {
  constructor({ quota, used, allowed }: UsedUpQuota) {
    if (quota === 'stored_pastes' || quota === 'stored_bytes')
      super(
        'storage_full',
        `This service stores ${used} of ${allowed} ${quota.slice('stored_'.length)}, and has no room for this paste. Ask its operator, or try again later.`,
      );
    else
      super(
        'quota_exceeded',
        `You store ${used} of ${allowed} ${quota}, and this paste would exceed that. Delete pastes, and try again. ` +
          'A deleted paste counts until its content is removed, which takes a minute or two.',
      );
  }
}

/**
 * The paste from which a new paste was to be made: its creator can't read it. Why is not told: a private
 * paste looks like none.
 */
export class ParentNotFoundError extends PasteflowError {
  constructor(option: 'parent' | 'supersedes' = 'parent') {
    super(
      'parent_not_found',
      `You cannot read the paste that \`${option}\` names: it does not exist, has expired, was deleted, or is deleted when it is read. Correct the short code, or send the paste without \`${option}\`.`,
    );
  }
}

/** The job does not exist. */
export class JobNotFoundError extends PasteflowError {
  constructor() {
    super('job_not_found', 'There is no job with this id. Check the URL.');
  }
}

/** The job exists and belongs to another user. */
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

/** Why a job cannot be retried. */
export type RetryRefusal =
  | { readonly kind: 'state'; readonly status: string }
  | { readonly kind: 'retried'; readonly as: string }
  | { readonly kind: 'content_deleted' }
  | { readonly kind: 'source_gone'; readonly shortCode: string };

/** The job cannot be retried. The message says what to do instead. */
export class JobNotRetryableError extends PasteflowError {
  readonly why: RetryRefusal;

  constructor(why: RetryRefusal) {
    super('job_not_retryable', wordsOf(why));
    this.why = why;
  }
}

function wordsOf(why: RetryRefusal): string {
  switch (why.kind) {
    case 'state':
      return `This job is ${why.status}. Only failed and partial jobs are retried.`;
    case 'retried':
      return `This job was retried as job ${why.as}. When that has failed, retry that one.`;
    case 'content_deleted':
      return 'The items of this job were deleted when it ended. Create a new job with them.';
    case 'source_gone':
      return `The paste ${why.shortCode} does not exist, has expired or was deleted. Create a new job from another paste.`;
    default:
      return why satisfies never;
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
