import type { ErrorCode } from '@pasteflow/domain';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathItemObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { REQUEST_ID } from '../http/request/request-context.ts';
import { xRequestId } from './answer-headers.ts';
import { edgeErrors, edgeHeaders, edgeParameters, replayHeaders } from './edge.ts';
import type { Operation, Routes } from './endpoint.ts';
import { problemExamples, problemResponse, problemResponses } from './problem-responses.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** What any request may be answered. */
const anyErrors: readonly ErrorCode[] = [
  'malformed_request',
  'request_incomplete',
  'request_timeout',
  'request_headers_too_large',
  'internal',
];

const requestIdParam = z
  .string()
  .regex(REQUEST_ID)
  .optional()
  .meta({
    param: {
      name: 'X-Request-Id',
      in: 'header',
      description: 'Names the request; what does not fit the pattern is replaced.',
      example: 'my-request-1',
    },
  });

/** The OpenAPI 3.1 document of these routes. `publicUrl` has no slash at its end. */
export function openApiDocument(routes: Routes, publicUrl: string): OpenApiDocument {
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Pasteflow',
      version: '1', // as in /v1
      description:
        'Keeps text, and gives short links to it. HEAD is answered wherever GET is, with the same headers and no ' +
        'body. A path or a method that is not listed here is answered with the responses `RouteNotFound` and ' +
        '`MethodNotAllowed`.',
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: 'pastes', description: 'Create, read, look back at and delete pastes.' },
      { name: 'jobs', description: 'Hand over longer work, watch it, and take what it made.' },
      { name: 'shell', description: 'For people at a command line.' },
      { name: 'operation', description: 'For load balancers and tools.' },
    ],
    paths: Object.fromEntries(
      Object.entries(routes).map(([path, methods]) => [asTemplate(path), pathItem(methods)]),
    ),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            "An api token (`pf_…`), or an access token of the operator's own identity provider. One that is not good is refused " +
            'everywhere, also where none is needed.',
        },
      },
      examples: problemExamples,
      responses: {
        RouteNotFound: problemResponse(404, ['route_not_found']),
        MethodNotAllowed: problemResponse(405, ['method_not_allowed']),
      },
    },
  });
}

/** @param path as Express writes it: `/v1/pastes/:short_code` */
export function asTemplate(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function pathItem(methods: Routes[string]): ZodOpenApiPathItemObject {
  const operations = Object.entries(methods).map(
    ([method, { operation }]) => [method.toLowerCase(), describe(method, operation)] as const,
  );
  return Object.fromEntries(operations);
}

/** What whoever says who they are may be answered, and where it matters whoever doesn't. */
const admissionErrors: readonly ErrorCode[] = ['unauthorized', 'dependency_unavailable'];

/** `{}`: nobody needs to. */
const security: Readonly<Record<Operation['access'], NonNullable<ZodOpenApiOperationObject['security']>>> = {
  open: [],
  anyone: [{ bearer: [] }, {}],
  user: [{ bearer: [] }],
};

function describe(method: string, operation: Operation): ZodOpenApiOperationObject {
  const { tag, access, params, body, answers, errors, ...texts } = operation;
  const admission = access === 'open' ? [] : admissionErrors;
  const responses = new Map(
    problemResponses([...anyErrors, ...admission, ...errors, ...edgeErrors(method, operation)]),
  );
  for (const [status, answer] of Object.entries(answers)) {
    responses.set(
      Number(status),
      withProblem(withHeaders(answer, replayHeaders(method)), responses.get(Number(status))),
    );
  }
  return {
    ...texts,
    tags: [tag],
    security: security[access],
    ...(params !== undefined && { requestParams: params }),
    parameters: [requestIdParam, ...edgeParameters(method, operation)],
    ...(body !== undefined && { requestBody: body }),
    // integer keys: JavaScript sorts them
    responses: Object.fromEntries(
      [...responses].map(([status, response]) => [status, withHeaders(response, edgeHeaders(operation))]),
    ),
  };
}

/** An answer of ours, which may share its status with a problem document. */
function withProblem(
  answer: ZodOpenApiResponseObject,
  problem: ZodOpenApiResponseObject | undefined,
): ZodOpenApiResponseObject {
  return {
    ...withHeaders(answer, { 'X-Request-Id': xRequestId }),
    description: [answer.description, problem?.description].filter(Boolean).join(' Or: '),
    ...((answer.content ?? problem?.content) && { content: { ...answer.content, ...problem?.content } }),
  };
}

function withHeaders(answer: ZodOpenApiResponseObject, more: z.ZodRawShape): ZodOpenApiResponseObject {
  const headers = answer.headers instanceof z.ZodObject ? answer.headers.shape : {};
  return { ...answer, headers: z.object({ ...headers, ...more }) };
}
