import type { Document, MediaType, Operation, Parameter } from './document.ts';

export interface ExampleRequest {
  readonly name: string;
  /** With the query. */
  readonly path: string;
  readonly init: RequestInit;
}

interface Target {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Each body of each operation with the parameters it needs, and then each other parameter once. */
export function exampleRequests({ paths }: Document): readonly ExampleRequest[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      requestsOf({ method: method.toUpperCase(), path, operation }),
    ),
  );
}

function requestsOf(target: Target): readonly ExampleRequest[] {
  const { parameters, requestBody } = target.operation;
  const needed = parameters.filter(({ required }) => required === true);
  const bodies: [type: string, body: MediaType][] = Object.entries(requestBody?.content ?? { 'no body': {} });
  return [
    ...bodies.map((body) => requestOf(target, needed, body)),
    // The last body is the raw one: the others take no options in the query.
    ...parameters
      .filter((each) => !needed.includes(each))
      .map((other) => requestOf(target, [...needed, other], bodies.at(-1)!, ` with ${other.name}`)),
  ];
}

function requestOf(
  { method, path, operation }: Target,
  parameters: readonly Parameter[],
  [type, { example }]: readonly [string, MediaType],
  comment = '',
): ExampleRequest {
  let filled = path;
  const query = new URLSearchParams();
  const headers = new Headers();
  for (const { name, in: place, example: value } of parameters) {
    if (place === 'path') filled = filled.replace(`{${name}}`, String(value));
    else (place === 'query' ? query : headers).set(name, String(value));
  }
  if (type === 'application/json') headers.set('Content-Type', type); // fetch names the others, and a form's boundary
  return {
    name: `${operation.operationId}${comment}, ${type}`,
    path: query.size === 0 ? filled : `${filled}?${query.toString()}`,
    init: { method, headers, ...(type !== 'no body' && { body: bodyOf(type, example) }) },
  };
}

function bodyOf(type: string, example: unknown): string | FormData {
  if (type === 'application/json') return JSON.stringify(example);
  if (type !== 'multipart/form-data') return String(example);
  const form = new FormData();
  for (const [name, value] of Object.entries(example as object)) form.append(name, String(value));
  return form;
}
