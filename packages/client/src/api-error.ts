import type { ErrorCode, FieldError } from './api-types.ts';
import { PasteflowApiError } from './errors.ts';

/** What is read of a problem document (RFC 9457). A proxy on the way answers with anything at all. */
interface Problem {
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
}

/**
 * @param body of an answer that is no success: JSON, a text, or undefined for none
 * @param codeOfBare503 what a 503 of the api's own without a body means; others on the way answer so too, but have no X-Request-Id
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

/** In seconds; the header has them, or a date. */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}
