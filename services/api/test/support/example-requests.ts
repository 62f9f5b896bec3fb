import { randomUUID } from 'node:crypto';
import type { Document, MediaType, Operation, Parameter } from './document.ts';

export interface ExampleRequest {
  readonly operationId: string;
  readonly name: string;
  /** With the query. */
  readonly path: string;
  readonly init: RequestInit;
  /** The sender: anonymous, or a user whose token is not in the headers yet. */
  readonly as: 'nobody' | 'user';
}

interface Target {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  readonly as: ExampleRequest['as'];
}

interface ExampleBody {
  readonly type: string;
  readonly name: string;
  readonly value: unknown;
}

/**
 * Each body of each operation with the required parameters, and then each other parameter once, with a token
 * wherever one is accepted. Where no token is required, all parameters once more without one.
 */
export function exampleRequests({ paths }: Document): readonly ExampleRequest[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const target = { method: method.toUpperCase(), path, operation } as const;
      const takesToken = operation.security.some((each) => 'bearer' in each);
      const wantsToken = takesToken && operation.security.every((each) => 'bearer' in each);
      return [
        ...requestsOf({ ...target, as: takesToken ? 'user' : 'nobody' }),
        ...(takesToken && !wantsToken ? [withEverything({ ...target, as: 'nobody' })] : []),
      ];
    }),
  );
}

/** The examples of a body in the document. */
export function examplesOf({ example, examples }: MediaType): readonly unknown[] {
  return examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
}

function requestsOf(target: Target): readonly ExampleRequest[] {
  const { parameters } = target.operation;
  const needed = parameters.filter(({ required }) => required === true);
  const bodies = bodiesOf(target.operation);
  return [
    ...bodies.map((body) => requestOf(target, needed, body)),
    ...parameters
      .filter((each) => !needed.includes(each))
      .map((other) => requestOf(target, [...needed, other], bodies.at(-1)!, ` with ${other.name}`)),
  ];
}

function withEverything(target: Target): ExampleRequest {
  const body = bodiesOf(target.operation).at(-1)!;
  return requestOf(target, target.operation.parameters, body, ' with everything, without a token');
}

/** The raw body of a paste is the last one: the others allow no options in the query. */
function bodiesOf({ requestBody }: Operation): readonly ExampleBody[] {
  if (requestBody === undefined) return [{ type: '', name: 'no body', value: undefined }];
  return Object.entries(requestBody.content).flatMap(([type, media]) =>
    examplesOf(media).map((value, i) => ({ type, name: i === 0 ? type : `${type} ${i + 1}`, value })),
  );
}

function requestOf(
  { method, path, operation, as }: Target,
  parameters: readonly Parameter[],
  body: ExampleBody,
  comment = '',
): ExampleRequest {
  let filled = path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const { name, in: place, example: value = randomUUID() } of parameters) {
    if (place === 'path') filled = filled.replace(`{${name}}`, String(value));
    else (place === 'query' ? query : headers).set(name, String(value));
  }
  if (body.type === 'application/json') headers.set('Content-Type', body.type); // fetch sets the others, and the boundary of a form
  return {
    operationId: operation.operationId,
    name: `${operation.operationId}${comment}, ${body.name}`,
    path: query.size === 0 ? filled : `${filled}?${query.toString()}`,
    init: { method, headers, ...(body.type !== '' && { body: bytesOf(body) }) },
    as,
  };
}

function bytesOf({ type, value }: ExampleBody): string | FormData | URLSearchParams {
  if (type === 'application/json') return JSON.stringify(value);
  if (type === 'application/x-www-form-urlencoded')
    return new URLSearchParams(value as Record<string, string>);
  if (type !== 'multipart/form-data') return String(value);
  const form = new FormData();
  for (const [name, field] of Object.entries(value as object)) form.append(name, String(field));
  return form;
}
