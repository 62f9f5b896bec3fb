import type { ErrorCode } from '@pasteflow/domain';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathItemObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { REQUEST_ID } from '../http/request-context.ts';
import { xRequestId } from './answer-headers.ts';
import type { Operation, Routes } from './endpoint.ts';
import { problemResponse, problemResponses } from './problem-responses.ts';

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
      { name: 'shell', description: 'For people at a command line.' },
      { name: 'operation', description: 'For load balancers and tools.' },
    ],
    paths: Object.fromEntries(
      Object.entries(routes).map(([path, methods]) => [asTemplate(path), pathItem(methods)]),
    ),
    components: {
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
    ([method, { operation }]) => [method.toLowerCase(), describe(operation)] as const,
  );
  return Object.fromEntries(operations);
}

function describe({ tag, params, body, answers, errors, ...texts }: Operation): ZodOpenApiOperationObject {
  const responses = new Map(problemResponses([...anyErrors, ...errors]));
  for (const [status, answer] of Object.entries(answers)) {
    responses.set(Number(status), withProblem(answer, responses.get(Number(status))));
  }
  return {
    ...texts,
    tags: [tag],
    ...(params !== undefined && { requestParams: params }),
    parameters: [requestIdParam],
    ...(body !== undefined && { requestBody: body }),
    responses: Object.fromEntries(responses), // integer keys: JavaScript sorts them
  };
}

/** An answer of ours, which may share its status with a problem document. */
function withProblem(
  answer: ZodOpenApiResponseObject,
  problem: ZodOpenApiResponseObject | undefined,
): ZodOpenApiResponseObject {
  const headers = answer.headers instanceof z.ZodObject ? answer.headers.shape : {};
  return {
    description: [answer.description, problem?.description].filter(Boolean).join(' Or: '),
    headers: z.object({ 'X-Request-Id': xRequestId, ...headers }),
    ...((answer.content ?? problem?.content) && { content: { ...answer.content, ...problem?.content } }),
  };
}
