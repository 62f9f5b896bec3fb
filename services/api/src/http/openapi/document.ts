import type { House } from '@pasteflow/domain';
import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathItemObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ProblemCode } from '../answers/problem-codes.ts';
import { REQUEST_ID } from '../request/request-context.ts';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency.ts';
import {
  gzipEncoding,
  idempotencyReplayed,
  rateLimit,
  rateLimitPolicy,
  vary,
  xRequestId,
} from './answer-headers.ts';
import type { ApiEndpoint, Operation, Routes } from './endpoint.ts';
import { problemExamples, problemResponse, problemResponses } from './problem-responses.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** The errors of any request. */
const anyErrors: readonly ProblemCode[] = [
  'malformed_request',
  'request_incomplete',
  'request_timeout',
  'request_headers_too_large',
  'internal',
];

const requestIdParam = z
  .string()
  .optional()
  .meta({
    param: {
      id: 'X-Request-Id',
      name: 'X-Request-Id',
      in: 'header',
      description: `The id of the request. A value that does not match \`${REQUEST_ID.source}\` is ignored, and the request gets an id of its own.`,
      example: 'my-request-1',
    },
  });

/** The OpenAPI 3.1 document of the routes. @param publicUrl without a trailing slash */
export function openApiDocument(
  routes: Routes,
  publicUrl: string,
  { name, links: { abuse, terms } }: Pick<House, 'name' | 'links'>,
): OpenApiDocument {
  const problems: SharedProblems = new Map();
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: name,
      version: '0.1.0',
      ...(terms !== null && { termsOfService: terms }),
      ...(abuse !== null && { contact: URL.canParse(abuse) ? { url: abuse } : { email: abuse } }),
      description:
        'Stores text and answers with short links to it. Every GET route also answers HEAD, with the same headers and no ' +
        'body. Unknown paths are answered with the response `RouteNotFound`, unknown methods with `MethodNotAllowed`.',
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: 'pastes', description: 'Create, read, list and delete pastes.' },
      { name: 'requests', description: 'Ask others for secrets, and deposit one.' },
      { name: 'jobs', description: 'Run longer work in the background, follow it, and read its results.' },
      { name: 'tokens', description: 'Make, list and revoke tokens of one’s own.' },
      { name: 'webhooks', description: 'Tell a program what happens.' },
      { name: 'shell', description: 'For use with curl.' },
      { name: 'operation', description: 'For load balancers and tools.' },
    ],
    paths: Object.fromEntries(
      Object.entries(routes)
        .map(([path, methods]) => [asTemplate(path), pathItem(methods, problems)] as const)
        .filter(([, item]) => Object.keys(item).length > 0),
    ),
    webhooks: Object.assign(
      {},
      ...Object.values(routes)
        .flatMap((methods) => Object.values(methods))
        .map((endpoint) => ('operation' in endpoint ? endpoint.operation.sends : {})),
    ) as NonNullable<Operation['sends']>,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            "An API token (`pf_…`), or an access token of the operator's identity provider. An invalid token is always refused, " +
            'even where no token is needed.',
        },
      },
      examples: problemExamples,
      responses: {
        RouteNotFound: withHeaders(withPage(problemResponse(404, ['route_not_found'])), limitHeaders),
        MethodNotAllowed: withHeaders(withPage(problemResponse(405, ['method_not_allowed'])), limitHeaders),
      },
    },
  });
}

/** @param path as Express writes it: `/v1/pastes/:short_code/files/*name` */
export function asTemplate(path: string): string {
  return path.replaceAll(/[:*](\w+)/g, '{$1}');
}

function pathItem(methods: Routes[string], shared: SharedProblems): ZodOpenApiPathItemObject {
  const operations = Object.entries(methods).flatMap(([method, endpoint]) =>
    'operation' in endpoint ? [[method.toLowerCase(), describe(method, endpoint, shared)] as const] : [],
  );
  return Object.fromEntries(operations);
}

/** The errors of identifying a caller. */
const admissionErrors: readonly ProblemCode[] = ['unauthorized', 'dependency_unavailable'];

/** `{}`: credentials are optional. */
const security: Readonly<Record<Operation['access'], NonNullable<ZodOpenApiOperationObject['security']>>> = {
  open: [],
  anyone: [{ bearer: [] }, {}],
  user: [{ bearer: [] }],
};

function describe(method: string, endpoint: ApiEndpoint, shared: SharedProblems): ZodOpenApiOperationObject {
  const { operation, page } = endpoint;
  const isForm = method === 'POST' && page !== undefined;
  const {
    tag,
    access,
    hasOwnKey: _,
    isShared: __,
    allowsReadTokens: ___,
    params,
    body,
    answers,
    errors,
    sends: ____,
    ...texts
  } = operation;
  const admission = access === 'open' ? [] : admissionErrors;
  const problems = problemResponses([
    ...anyErrors,
    ...admission,
    ...errors,
    ...impliedErrors(method, operation),
    ...(isForm ? (['user_changed'] as const) : []),
  ]);
  const responses = new Map(
    [...problems].map(([status, problem]) => [status, asShared(problem, endpoint, shared)]),
  );
  for (const [status, answer] of Object.entries(answers)) {
    const own = withHeaders(
      page === undefined ? answer : withOptionalHeaders(answer),
      replayHeaders(method, operation),
    );
    responses.set(Number(status), complete(withProblem(own, problems.get(Number(status))), endpoint));
  }
  return {
    ...texts,
    tags: [tag],
    security: security[access],
    ...(params !== undefined && { requestParams: params }),
    parameters: isKeyed(method, operation) ? [requestIdParam, idempotencyKeyParam] : [requestIdParam],
    ...(body !== undefined && { requestBody: body }),
    responses: Object.fromEntries(responses), // JavaScript sorts integer keys
  };
}

/** Problem responses by their ids: most of them are the same for many operations. */
type SharedProblems = Map<string, ZodOpenApiResponseObject>;

/**
 * zod-openapi makes a component of an object with an id, and a reference of each further use of that object.
 */
function asShared(
  problem: ZodOpenApiResponseObject,
  endpoint: ApiEndpoint,
  shared: SharedProblems,
): ZodOpenApiResponseObject {
  const id = `${problem.id}${variantOf(endpoint)}`;
  const response = shared.get(id) ?? { ...complete(problem, endpoint), id };
  shared.set(id, response);
  return response;
}

/** What distinguishes responses with the same problems: `complete` adds other parts to them. */
function variantOf({ operation, page, showsProblems }: ApiEndpoint): string {
  const isLimited = 'RateLimit' in impliedHeaders(operation);
  const hasPage = page !== undefined || showsProblems === true;
  return [isLimited ? '' : 'Unlimited', hasPage ? 'Page' : ''].join('');
}

/** Adds what the answers of an endpoint have in common. */
function complete(
  response: ZodOpenApiResponseObject,
  { operation, page, showsProblems }: ApiEndpoint,
): ZodOpenApiResponseObject {
  const withImplied = withHeaders(response, impliedHeaders(operation));
  const isShown = showsProblems === true && 'application/problem+json' in (response.content ?? {});
  return page !== undefined || isShown ? withPage(withImplied) : withImplied;
}

/** Merges an answer with the problem document of the same status. */
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

/** A client that asks for text/html gets the answer as a page. */
function withPage(answer: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  return {
    ...withHeaders(answer, { Vary: vary, 'Content-Encoding': gzipEncoding }),
    content: { ...answer.content, 'text/html': { schema: z.string() } },
  };
}

/** A page has other headers than the answer for a program. */
function withOptionalHeaders(answer: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  const headers =
    answer.headers instanceof z.ZodObject ? (answer.headers.shape as Record<string, z.ZodType>) : {};
  const optional = Object.entries(headers).map(
    ([name, schema]) => [name, schema.optional().meta(schema.meta() ?? {})] as const,
  );
  return { ...answer, headers: z.object(Object.fromEntries(optional)) };
}

function withHeaders(answer: ZodOpenApiResponseObject, more: z.ZodRawShape): ZodOpenApiResponseObject {
  const headers = answer.headers instanceof z.ZodObject ? answer.headers.shape : {};
  return { ...answer, headers: z.object({ ...headers, ...more }) };
}

// What operations share because of their method or access. It is added here, so that no operation can forget
// it.

/**
 * A POST that creates something takes an Idempotency-Key. The answer of a reveal is not kept.
 */
function isKeyed(method: string, { hasOwnKey }: Operation): boolean {
  return method === 'POST' && hasOwnKey !== true;
}

/** Without an example, which Swagger UI would send for every reader of the documentation. */
const idempotencyKeyParam = z
  .string()
  .regex(IDEMPOTENCY_KEY)
  .optional()
  .meta({
    param: {
      id: 'Idempotency-Key',
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes the request safe to repeat: the same request with the same key gets the first answer again and creates nothing. ' +
        'Use a new key for each request, and one that is hard to guess, such as a UUID: it gives access to the answer.',
    },
  });

function impliedErrors(method: string, operation: Operation): readonly ProblemCode[] {
  return [
    ...(method === 'GET' ? [] : (['cross_site_request'] as const)),
    ...(operation.access === 'open' ? [] : (['rate_limited'] as const)),
    ...(operation.access === 'open' || method === 'GET' ? [] : (['insufficient_scope'] as const)),
    ...(isKeyed(method, operation) ? (['idempotency_key_in_use', 'idempotency_key_reused'] as const) : []),
  ];
}

const limitHeaders: z.ZodRawShape = { 'RateLimit-Policy': rateLimitPolicy, RateLimit: rateLimit };

/**
 * The headers of every answer of an operation. A limit that is off, or suspended because Postgres is
 * unavailable, is not shown.
 */
function impliedHeaders({ access, errors }: Operation): z.ZodRawShape {
  const isLimited = access !== 'open' || errors.includes('rate_limited');
  return isLimited ? limitHeaders : {};
}

/** The headers of an operation's own answers. Only these are stored: a problem is never replayed. */
function replayHeaders(method: string, operation: Operation): z.ZodRawShape {
  return isKeyed(method, operation) ? { 'Idempotency-Replayed': idempotencyReplayed } : {};
}
