import {
  DependencyUnavailableError,
  errorCodes,
  PasteflowError,
  takedownClasses,
  type ErrorCode,
} from '@pasteflow/domain';
import { z } from 'zod';
import { fieldErrorSchema, RequestError } from './request-error.ts';

/**
 * RFC 9457, with a code from the closed list and, for a validation error, the fields and the rules that they
 * break.
 */
export const problemSchema = z
  .object({
    type: z
      .string()
      .meta({ description: 'A URN made from the code.', examples: ['urn:pasteflow:problem:paste_gone'] }),
    title: z.string().meta({ description: 'The same for every problem with this code.' }),
    status: z.int(),
    detail: z.string().meta({ description: 'What is wrong and what to do.' }),
    instance: z.string().meta({ description: 'The path of the request.' }),
    code: z.enum(errorCodes),
    errors: z
      .array(fieldErrorSchema)
      .optional()
      .meta({ description: 'The fields of the request that break a rule.' }),
    takedown_class: z
      .enum(takedownClasses)
      .optional()
      .meta({ description: 'Why the operator took the paste down, in one word of a closed list.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457, with a code from a closed list.' });

export type Problem = Readonly<z.output<typeof problemSchema>>;

/** The one place where a code becomes an HTTP status. */
const statuses: Readonly<Record<ErrorCode, readonly [status: number, title: string]>> = {
  invalid_transition: [409, 'Conflict with the current state'],
  short_code_taken: [503, 'No free short code found'],
  slug_taken: [409, 'Slug taken'],
  slug_limit_reached: [409, 'Too many slugs'],
  paste_not_found: [404, 'Paste not found'],
  paste_gone: [410, 'Paste expired or deleted'],
  paste_taken_down: [451, 'Paste taken down'],
  paste_in_progress: [503, 'Paste not stored yet'],
  parent_not_found: [422, 'Parent not found'],
  no_diff: [404, 'No diff of this paste'],
  diff_unavailable: [409, 'Pastes are not compared'],
  reveal_required: [403, 'Paste is deleted when it is read'],
  nothing_to_reveal: [409, 'Paste is not deleted when it is read'],
  job_not_found: [404, 'Job not found'],
  job_forbidden: [403, "Another user's job"],
  job_ended: [409, 'Job has ended'],
  execution_taken: [500, 'Internal error'],
  idempotency_key_reused: [422, 'Idempotency key reused'],
  idempotency_key_in_use: [409, 'Idempotency key in use'],
  rate_limited: [429, 'Too many requests'],
  content_empty: [422, 'Content is empty'],
  content_too_large: [413, 'Content too large'],
  content_blocked: [403, 'Content blocked'],
  malformed_request: [400, 'Malformed request'],
  validation_failed: [422, 'Validation failed'],
  unsupported_media_type: [415, 'Unsupported media type'],
  unsupported_encoding: [415, 'Unsupported content encoding'],
  request_timeout: [408, 'Request timeout'],
  request_incomplete: [400, 'Request incomplete'],
  request_headers_too_large: [431, 'Request headers too large'],
  unauthorized: [401, 'Not authorized'],
  cross_site_request: [403, 'Sent from another site'],
  route_not_found: [404, 'No such route'],
  method_not_allowed: [405, 'Method not allowed'],
  range_not_satisfiable: [416, 'Range not satisfiable'],
  precondition_failed: [412, 'Precondition failed'],
  dependency_unavailable: [503, 'Temporarily unavailable'],
  stream_unavailable: [503, 'Too many waiting clients'],
  overloaded: [503, 'Too many bytes in flight'],
  malformed_message: [500, 'Internal error'],
  internal: [500, 'Internal error'],
};

export function statusOf(code: ErrorCode): number {
  return statuses[code][0];
}

export function titleOf(code: ErrorCode): string {
  return statuses[code][1];
}

/** A 503 is expected to be over within seconds. */
const RETRY_AFTER_SECONDS = 1;

const INTERNAL_DETAIL = 'The server failed. Try again; if it persists, report the X-Request-Id.';

export interface ErrorAnswer {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** @param instance the path of the request, without its query */
export function answerTo(error: unknown, instance: string): ErrorAnswer {
  const known = asPasteflowError(error);
  const [status, title] = statuses[known.code];
  const problem: Problem = {
    type: `urn:pasteflow:problem:${known.code}`,
    title,
    status,
    detail: status === 500 ? INTERNAL_DETAIL : known.message,
    instance,
    code: known.code,
    ...(known instanceof RequestError && known.errors !== undefined && { errors: [...known.errors] }),
    ...(known instanceof RequestError &&
      known.takedownClass !== undefined && { takedown_class: known.takedownClass }),
  };
  const body = Buffer.from(`${JSON.stringify(problem)}\n`);
  const headers = {
    ...(known instanceof RequestError && known.headers),
    ...(status === 503 && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    'Content-Type': 'application/problem+json',
    'Content-Length': String(body.length),
  };
  return { problem, headers, body };
}

function asPasteflowError(error: unknown): PasteflowError {
  if (error instanceof PasteflowError) return error;
  // Express's router throws this for a path that it can't decode.
  if (error instanceof URIError) {
    return new RequestError(
      'malformed_request',
      'Correct the percent-encoding of the URL and send the request again.',
      {
        cause: error,
      },
    );
  }
  return new PasteflowError('internal', INTERNAL_DETAIL, { cause: error });
}

/**
 * The level of an error's log line, in addition to the line of the request; null for a client's mistake, and
 * for a refusal that protects the process: metrics count it, and a flood of them must not flood the log.
 */
export function severityOf(error: unknown, { status, code }: Problem): 'error' | 'warn' | null {
  if (code === 'overloaded') return null;
  if (error instanceof DependencyUnavailableError) return 'warn';
  return status >= 500 ? 'error' : null;
}
