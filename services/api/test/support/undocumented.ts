import { constants, gunzipSync } from 'node:zlib';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { routesOf } from '../../src/app.ts';
import type { ApiContext } from '../../src/context.ts';
import { asTemplate } from '../../src/http/openapi/document.ts';
import type { Method } from '../../src/http/openapi/endpoint.ts';
import { pageHeaders } from '../../src/http/pages/page.ts';
import { headersOfEveryAnswer, robotsHeader } from '../../src/http/answers/response-headers.ts';
import { isPrivateBin } from '../../src/private-bin/request.ts';
import { type Described, type DocumentedAnswer, type DocumentedHeader, documentOf } from './document.ts';
import { jobTypes } from './job-types.ts';

interface ObservedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Compares every answer of the server on this port, to any client, with the OpenAPI document. */
export function watchAnswers(port: number): { readonly undocumented: string[]; stop(): void } {
  const undocumented: string[] = [];
  const onCreated = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.socket.localPort !== port || request.method === 'OPTIONS') return;
    if (isPrivateBin(request)) return; // docs/http-api.md describes those answers
    const body = bytesOf(response);
    response.once('finish', () => {
      const answer: ObservedAnswer = {
        method: request.method!,
        path: request.url!.split('?')[0]!,
        status: response.statusCode,
        headers: withoutCors(response.getHeaders()),
        body: decoded(response, Buffer.concat(body)),
      };
      const { method, path, status } = answer;
      undocumented.push(...undocumentedIn(answer).map((fault) => `${method} ${path}: ${status}: ${fault}`));
    });
  };
  subscribe('http.server.response.created', onCreated);
  return { undocumented, stop: () => unsubscribe('http.server.response.created', onCreated) };
}

/** The content of an answer to HEAD has no bytes. */
function decoded(response: ServerResponse, body: Buffer): Buffer {
  return response.getHeader('content-encoding') === 'gzip' && isGzip(body)
    ? gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }) // a client may have taken only a part
    : body;
}

const isGzip = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b;

/** Without what is for browsers, and depends on CORS_ORIGINS. */
function withoutCors({
  'access-control-allow-origin': _,
  'access-control-expose-headers': __,
  vary,
  ...headers
}: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const varies = String(vary ?? '').replace(/(, )?Origin$/, '');
  return { ...headers, ...(varies !== '' && { vary: varies }) };
}

/** Collects a body while it is written. */
function bytesOf(response: ServerResponse): readonly Buffer[] {
  const chunks: Buffer[] = [];
  for (const name of ['write', 'end'] as const) {
    const original = response[name].bind(response) as (...args: unknown[]) => unknown;
    Object.assign(response, {
      [name]: (chunk: unknown, ...rest: unknown[]) => {
        if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
        else if (Buffer.isBuffer(chunk)) chunks.push(chunk); // nothing in the api writes into a buffer that it has sent
        else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
        return original(chunk, ...rest);
      },
    });
  }
  return chunks;
}

export function undocumentedIn(answer: ObservedAnswer): readonly string[] {
  const route = routeAt(answer);
  if (route?.isPage === true) return pageFaults(answer);
  const described = documentOf(route?.path);
  const at = documentedAt(described, answer, route?.template);
  const documented = at.reduce<unknown>(
    (node, key) => (node as Record<string, unknown>)[key],
    described.document,
  );
  if (documented === undefined) return ['this status is not documented'];
  const { headers, content = {}, description } = documented as DocumentedAnswer;
  return [
    ...headerFaults(described, answer.headers, headers, at),
    ...bodyFaults(described, answer, { content, emptyToo: description.includes('an empty body') }, at),
  ];
}

const templates = Object.entries(routesOf({ jobTypes } as ApiContext))
  .toSorted(([a], [b]) => a.split(':').length - b.split(':').length) // literal paths come first
  .map(([path, methods]) => ({
    path,
    template: asTemplate(path),
    methods,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+').replaceAll(/\*\w+/g, '.+')}/?$`),
  }));

/** The route of an answer, and whether the document leaves its method out, because it is a page. */
function routeAt({ method, path }: Pick<ObservedAnswer, 'method' | 'path'>) {
  const route = templates.find(({ pattern }) => pattern.test(path));
  const endpoint = route?.methods[(method === 'HEAD' ? 'GET' : method) as Method];
  const isPage = endpoint !== undefined && 'policy' in endpoint;
  return route && { path: route.path, template: route.template, isPage };
}

/** The path of the document under which an answer belongs. */
function documentedAt(
  { document }: Described,
  { method, status }: ObservedAnswer,
  template: string | undefined,
): readonly string[] {
  if (template === undefined) return ['components', 'responses', status === 404 ? 'RouteNotFound' : 'none'];
  const operation = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  if (document.paths[template]?.[operation] === undefined) {
    return ['components', 'responses', status === 405 ? 'MethodNotAllowed' : 'none'];
  }
  return ['paths', template, operation, 'responses', String(status)];
}

const HEADERS_OF_PAGES =
  'X-Request-Id Idempotency-Replayed Vary Content-Encoding ETag Location Set-Cookie Clear-Site-Data RateLimit RateLimit-Policy Retry-After WWW-Authenticate';

/** A page is markup. Its errors are markup for a browser, and problem documents for a program. */
function pageFaults({ method, status, headers, body }: ObservedAnswer): readonly string[] {
  const known = new Set([...HEADERS_OF_PAGES.split(' '), ...implied].map((name) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter((name) => !known.has(name));
  const type = String(headers['content-type'] ?? '').split(';')[0]!;
  const isEmpty = method === 'HEAD' || status === 303 || status === 304;
  return [
    ...unknown.map((name) => `${name} is no header of a page`),
    ...(headers['x-request-id'] === undefined ? ['has no X-Request-Id'] : []),
    ...(status === 303 && headers['location'] === undefined ? ['has no Location'] : []),
    ...(type === 'text/html' && !isEmpty && !/^<!doctype html>/i.test(body.toString())
      ? ['is no markup']
      : []),
    ...(type === 'application/problem+json' && !isEmpty ? problemFaults(status, body) : []),
    ...(status >= 400 && status !== 503 && !['text/html', 'application/problem+json'].includes(type)
      ? [`an error is no ${type}`]
      : []),
  ];
}

function problemFaults(status: number, body: Buffer): readonly string[] {
  const problem = JSON.parse(body.toString()) as { readonly status?: number };
  return [
    ...documentOf(undefined).faultsOf(problem, 'components', 'schemas', 'Problem'),
    ...(problem.status === status ? [] : [`the problem says ${problem.status}`]),
  ];
}

/** Not compared: headers of every answer, and those of HTTP itself. */
const implied = [
  ...Object.keys(headersOfEveryAnswer('https://paste.example.org')),
  robotsHeader[0],
  ...Object.keys(pageHeaders),
  'Content-Type',
  'Content-Length',
  'Connection',
];

function headerFaults(
  { document, faultsOf }: Described,
  headers: OutgoingHttpHeaders,
  documented: DocumentedAnswer['headers'],
  at: readonly string[],
): readonly string[] {
  const required = ([name, header]: readonly [string, object]): boolean =>
    ('$ref' in header ? document.components.headers[name]! : (header as DocumentedHeader)).required === true;
  const missing = Object.entries(documented)
    .filter(required)
    .map(([name]) => name)
    .filter((name) => headers[name.toLowerCase()] === undefined);
  const known = new Set([...Object.keys(documented), ...implied].map((name) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter((name) => !known.has(name));
  const wrong = Object.entries(documented).flatMap(([name, header]) => {
    const value = headers[name.toLowerCase()];
    const where = '$ref' in header ? ['components', 'headers', name] : [...at, 'headers', name];
    return value === undefined
      ? []
      : faultsOf(String(value), ...where, 'schema').map((fault) => name + fault);
  });
  return [
    ...missing.map((name) => `has no ${name}`),
    ...unknown.map((name) => `${name} is not documented`),
    ...wrong,
  ];
}

function bodyFaults(
  described: Described,
  { method, headers, body }: ObservedAnswer,
  { content, emptyToo }: { content: Readonly<Record<string, { schema?: object }>>; emptyToo: boolean },
  at: readonly string[],
): readonly string[] {
  const type = String(headers['content-type'] ?? '').split(';')[0]!;
  if (type === '') {
    const mayBeEmpty = emptyToo || Object.keys(content).length === 0;
    return body.length === 0 && mayBeEmpty ? [] : ['has no Content-Type'];
  }
  const media = content[type];
  if (media === undefined) return [`${type} is not documented`];
  if (method === 'HEAD' || media.schema === undefined) return [];
  if (type === 'text/event-stream') return eventFaults(described, body.toString());
  const value: unknown = type.endsWith('json') ? JSON.parse(body.toString()) : body.toString();
  return described.faultsOf(value, ...at, 'content', type, 'schema');
}

/** Compares each event of a stream, and its data, with the schema `Event`. */
function eventFaults({ document, faultsOf }: Described, stream: string): readonly string[] {
  const { oneOf: variants } = document.components.schemas.Event as {
    readonly oneOf: readonly { readonly properties: { readonly event: { readonly const: string } } }[];
  };
  return stream
    .split('\n\n')
    .map(fieldsOf)
    .filter((fields) => 'data' in fields)
    .flatMap((fields) => {
      const variant = variants.findIndex(({ properties }) => properties.event.const === fields.event);
      const dataSchema = ['oneOf', String(variant), 'properties', 'data', 'contentSchema'];
      return [
        ...faultsOf(fields, ...EVENT),
        ...(variant === -1 ? [] : faultsOf(JSON.parse(fields.data!), ...EVENT, ...dataSchema)),
      ];
    });
}

const EVENT = ['components', 'schemas', 'Event'];

/** Without the comments and `retry`. */
function fieldsOf(block: string): Partial<Record<'event' | 'id' | 'data', string>> {
  const fields = block.split('\n').map((line) => /^(event|id|data): (.*)$/.exec(line)?.slice(1) ?? []);
  return Object.fromEntries(fields.filter(([name]) => name !== undefined)) as Record<string, string>;
}
