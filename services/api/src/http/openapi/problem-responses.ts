import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { problemCodes, statusOf, titleOf, type ProblemCode } from '../answers/problem-codes.ts';
import { answerTo, problemSchema, type Problem } from '../answers/problem.ts';
import { RequestError } from '../answers/request-error.ts';
import {
  allow,
  contentRange,
  retryAfter,
  retryAfterOfSome,
  wwwAuthenticate,
  xRequestId,
} from './answer-headers.ts';

const headersByStatus: Readonly<Record<number, z.ZodRawShape>> = {
  401: { 'WWW-Authenticate': wwwAuthenticate },
  405: { Allow: allow },
  416: { 'Content-Range': contentRange },
  429: { 'Retry-After': retryAfter },
  503: { 'Retry-After': retryAfter },
};

function headersOf(status: number, codes: readonly ProblemCode[]): z.ZodRawShape {
  if (status === 409) return headersOfConflict(codes);
  if (codes.includes('quota_exceeded') || codes.includes('webhook_limit_reached'))
    return { 'Retry-After': retryAfterOfSome };
  return headersByStatus[status] ?? {};
}

/** Of the conflicts only that of a key ends by itself. */
function headersOfConflict(codes: readonly ProblemCode[]): z.ZodRawShape {
  if (!codes.includes('idempotency_key_in_use')) return {};
  return { 'Retry-After': codes.length === 1 ? retryAfter : retryAfterOfSome };
}

/** The problem responses of the codes, by status. */
export function problemResponses(
  codes: readonly ProblemCode[],
): ReadonlyMap<number, ZodOpenApiResponseObject> {
  const byStatus = Map.groupBy(new Set(codes), statusOf);
  return new Map([...byStatus].map(([status, some]) => [status, problemResponse(status, some)]));
}

/**
 * One problem response for codes that share a status; its id is made of the codes: `PasteNotFoundOrNoDiff`.
 */
export function problemResponse(status: number, codes: readonly ProblemCode[]): ZodOpenApiResponseObject {
  // It says nothing of the other fields, which are in problemSchema.
  const narrowed = z
    .object({ status: z.literal(status), code: z.enum(codes) })
    .meta({ override: ({ jsonSchema }) => delete jsonSchema.additionalProperties });
  return {
    id: codes
      .map((code) => `_${code}`.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()))
      .join('Or'),
    description: `${codes.map((code) => `${titleOf(code)} (\`${code}\`)`).join('; ')}.`,
    headers: z.object({ 'X-Request-Id': xRequestId, ...headersOf(status, codes) }),
    content: {
      'application/problem+json': {
        schema: z.intersection(problemSchema, narrowed),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Components, by code: about a hundred responses refer to them. */
export const problemExamples = Object.fromEntries(
  problemCodes.map((code) => [code, { summary: titleOf(code), value: exampleProblem(code) }]),
);

function exampleProblem(code: ProblemCode): Problem {
  const { problem } = answerTo(new RequestError(code, `${titleOf(code)}.`), '/v1/pastes/q7Zk2Lm9Xa');
  return problem;
}
