import type { ErrorCode, FieldError } from './api-types.ts';
import { PasteflowApiError } from './errors.ts';

/** The fields of a problem document (RFC 9457) that are used. A proxy may answer with anything. */
interface Problem {
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
}

/**
 * @param body of an error response: JSON, a text, or undefined when it is empty
 * @param codeOfBare503 the code for a 503 without a body. A proxy answers like this too, but without X-Request-Id
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
