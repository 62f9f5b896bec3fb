import type { ErrorCode, FieldError, Job, Paste } from './api-types.ts';

/** The base class. A call that an AbortSignal ends rejects with the signal's reason instead. */
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

/**
 * The upload failed: the paste has no content. `paste.failure_class` says why, and to the owner also
 * `paste.failure_reason`.
 */
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

/** The fields of a problem document (RFC 9457) that are used. A proxy may answer with anything. */
interface Problem {
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
}

/**
 * @param body of an error response: JSON, a text, or undefined when it is empty
 * @param codeOfBare503 the code for a 503 without a body. A proxy answers like this too, but without
 *   X-Request-Id
 */
export function apiErrorOf(
  { status, headers }: Response,
  body: unknown,
  codeOfBare503: ErrorCode | null,
): PasteflowApiError {
  const isBare = status === 503 && (body === undefined || body === '') && headers.has('X-Request-Id');
  const problem: Problem = isProblem(headers) && typeof body === 'object' && body !== null ? body : {};
  return new PasteflowApiError({
    status,
    code: typeof problem.code === 'string' ? (problem.code as ErrorCode) : isBare ? codeOfBare503 : null,
    detail: [problem.detail, problem.title].find((text) => typeof text === 'string') ?? 'no problem document',
    errors: Array.isArray(problem.errors) ? (problem.errors as FieldError[]) : [],
    requestId: headers.get('X-Request-Id'),
    retryAfter: retryAfterOf(headers),
  });
}

function isProblem(headers: Headers): boolean {
  return headers.get('Content-Type')?.startsWith('application/problem+json') ?? false;
}

/** In seconds. The header has seconds or a date. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}
