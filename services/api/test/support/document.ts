import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { defaultHouse } from '@pasteflow/domain';
import { routesOf } from '../../src/app.ts';
import type { ApiContext } from '../../src/context.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import type { Routes } from '../../src/http/openapi/endpoint.ts';
import { jobTypes } from './job-types.ts';

/** The parts of an OpenAPI document that the tests read. */
export interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] } & object>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly headers: Readonly<Record<string, DocumentedHeader>>;
    readonly responses: Readonly<Record<string, DocumentedAnswer>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
  readonly [field: string]: unknown;
}

type PathItem = Readonly<Record<string, Operation>>;

export interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly summary: string;
  /** The accepted credentials: any one of these. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, DocumentedAnswer>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  /** Not of an Idempotency-Key: each reader has another one. */
  readonly example?: string | number;
}

export interface MediaType {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>;
}

export interface DocumentedHeader {
  readonly required?: boolean;
}

export interface DocumentedAnswer {
  readonly description: string;
  readonly headers: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** A document, with its references to responses and parameters resolved, and its schemas. */
export interface Described {
  readonly document: Document;
  /** @param path the keys that lead to a schema in the document */
  readonly schemaAt: (...path: readonly string[]) => ValidateFunction;
  /** The errors of a value, in words; empty: none. */
  readonly faultsOf: (value: unknown, ...path: readonly string[]) => readonly string[];
}

// No handler is called.
const routes = routesOf({ maxPasteBytes: 1, publicUrl: () => '', jobTypes } as ApiContext);

let whole: Described | undefined;

/** The document of the sources, without a server. */
export const wholeDocument = (): Described => (whole ??= describe('all routes', routes));

/** What the document says of single routes. */
const known = new Map<string, Described>();
/** Two dozen single routes take as much CPU time as the whole, 0.2 s. Most test files ask fewer than ten. */
const MAX_KNOWN = 10;

/**
 * What the document says of one route, or of all when there is no gain in making it for one.
 * @param path as Express writes it. Undefined: what answers have that belong to no route
 */
export function documentOf(path: string | undefined): Described {
  const name = path ?? 'no route';
  const found = whole ?? known.get(name);
  if (found !== undefined) return found;
  // The data of events refers to schemas of other routes.
  if (known.size >= MAX_KNOWN || name.endsWith('/events')) return wholeDocument();
  const described = describe(name, path === undefined ? {} : { [path]: routes[path]! });
  known.set(name, described);
  return described;
}

// An OpenAPI document is not itself a JSON schema: comparing it with the meta-schema proves nothing and takes
// 0.1 s of CPU time. What many schemas refer to is compiled once.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, inlineRefs: false });
// In UTC, which RFC 3339 does not require. Milliseconds are in every answer, and optional in a request.
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
ajv.addFormat('uuid', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
ajv.addFormat('uri', (uri) => URL.canParse(uri));

function describe(name: string, of: Routes): Described {
  const text = JSON.stringify(openApiDocument(of, 'https://paste.example.org', defaultHouse));
  /** With references to responses and parameters, most of which many operations share. */
  const referring = JSON.parse(text) as Document;
  const document = JSON.parse(text, (_key, value: unknown) => {
    const shared = sharedIn(value);
    return shared === null ? value : referring.components[shared[0]][shared[1]];
  }) as Document;
  const id = encodeURIComponent(name);
  ajv.addSchema(referring, id);

  const schemaAt = (...path: readonly string[]): ValidateFunction => {
    const pointer = withoutReferences(referring, path).map((key) =>
      encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const schema = ajv.getSchema(`${id}#/${pointer.join('/')}`);
    if (schema === undefined) throw new Error(`no schema at ${path.join(' ')}`);
    return schema;
  };
  return {
    document,
    schemaAt,
    faultsOf: (value, ...path) => {
      const validate = schemaAt(...path);
      if (validate(value) === true) return [];
      return validate.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
  };
}

/** The response or parameter to which a node of the document refers, if it does. */
function sharedIn(node: unknown): readonly ['responses' | 'parameters', string] | null {
  const { $ref } = (node ?? {}) as { readonly $ref?: unknown };
  const found = typeof $ref === 'string' ? /^#\/components\/(responses|parameters)\/(.*)$/.exec($ref) : null;
  return found && [found[1] as 'responses' | 'parameters', found[2]!];
}

/** What is shared has one path, so that its schemas are compiled once. */
function withoutReferences(referring: Document, path: readonly string[]): readonly string[] {
  let node: unknown = referring;
  return path.reduce<readonly string[]>((at, key) => {
    node = (node as Record<string, unknown> | undefined)?.[key];
    const shared = sharedIn(node);
    if (shared === null) return [...at, key];
    node = referring.components[shared[0]][shared[1]];
    return ['components', ...shared];
  }, []);
}
