import type { ErrorCode } from '@pasteflow/domain';
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { problemSchema, statusOf, titleOf } from '../http/problem.ts';
import { allow, contentRange, retryAfter, wwwAuthenticate, xRequestId } from './answer-headers.ts';

const headersByStatus: Readonly<Record<number, z.ZodRawShape>> = {
  401: { 'WWW-Authenticate': wwwAuthenticate },
  405: { Allow: allow },
  416: { 'Content-Range': contentRange },
  503: { 'Retry-After': retryAfter },
};

/** The problem documents of these codes, by status. */
export function problemResponses(codes: readonly ErrorCode[]): ReadonlyMap<number, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(new Set(codes), statusOf);
  return new Map([...byStatus].map(([status, some]) => [status, problemResponse(status, some)]));
}

/** The problem documents of codes that all have this status. */
export function problemResponse(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  // Loose, since the other fields are in the schema beside it.
  const narrowed = z.looseObject({ status: z.literal(status), code: z.enum(codes) });
  return {
    description: `${codes.map((code) => `${titleOf(code)} (\`${code}\`)`).join('; ')}.`,
    headers: z.object({ 'X-Request-Id': xRequestId, ...headersByStatus[status] }),
    content: { 'application/problem+json': { schema: z.intersection(problemSchema, narrowed) } },
  };
}
