import type { Request, Response } from 'express';
import type {
  ZodOpenApiParameters,
  ZodOpenApiPathItemObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ProblemCode } from '../answers/problem-codes.ts';

/** Who may use an endpoint, and what its requests count as. */
export interface Policy {
  /** `open`: callers are neither identified nor limited. `anyone`, `user`: a token is optional, required. */
  readonly access: 'open' | 'anyone' | 'user';
  /** A 404 tells that there is no such paste or request: after too many, the caller gets no more answers. */
  readonly countsMisses?: boolean;
  /**
   * A browser that is signed in is nobody here: one whose token has expired must be able to sign in again.
   */
  readonly ignoresSession?: true;
  /** A token that only reads may use it, although it is no read: the endpoint checks what it may do. */
  readonly allowsReadTokens?: true;
  /** Pages of other sites may use it without credentials (CORS_ORIGINS). */
  readonly isShared?: true;
}

/** The description of a route's method. document.ts adds what all of them share. */
export interface Operation extends Omit<Policy, 'countsMisses' | 'ignoresSession'> {
  readonly operationId: string;
  readonly tag: 'pastes' | 'requests' | 'jobs' | 'tokens' | 'webhooks' | 'shell' | 'operation';
  /** It is a POST whose answer is not kept: it describes by itself what an Idempotency-Key does. */
  readonly hasOwnKey?: true;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: ZodOpenApiParameters;
  readonly body?: ZodOpenApiRequestBodyObject;
  /** By status, without the problem documents. */
  readonly answers: Readonly<Record<number, ZodOpenApiResponseObject>>;
  /** The codes of its problem documents, without those of any request. */
  readonly errors: readonly ProblemCode[];
  /** The requests that the service sends because of it: the section `webhooks` of the document. */
  readonly sends?: Readonly<Record<string, ZodOpenApiPathItemObject>>;
}

export type Handler = (req: Request, res: Response) => void | Promise<void>;

interface Handlers {
  readonly handle: Handler;
  /** Answers a browser with a page. Without it, a browser gets what everybody gets. */
  readonly page?: Handler;
  /** Without a page: a browser gets bytes as everybody does, and a problem as a page. */
  readonly showsProblems?: true;
}

/** A method of a route that the OpenAPI document describes. */
export interface ApiEndpoint extends Handlers {
  readonly operation: Operation;
  /**
   * What a client of PrivateBin's gets instead. OpenAPI has one operation for a method and path:
   * docs/http-api.md describes this one.
   */
  readonly privateBin?: ApiEndpoint;
}

/** A method of a route for browsers: it has a policy, and no entry in the OpenAPI document. */
interface PageEndpoint extends Handlers {
  readonly policy: Policy;
}

export type Endpoint = ApiEndpoint | PageEndpoint;

/** Every client gets the page; an error is a page for a browser, and a problem document for a program. */
export function pageEndpoint(policy: Policy, show: Handler): Endpoint {
  return { policy, handle: show, page: show };
}

const guessed = ['paste_not_found', 'request_not_found'] as const;

/** An operation whose 404 shows that a code does not exist counts its misses, as such a page does. */
export function policyOf(endpoint: Endpoint): Policy {
  if ('policy' in endpoint) return endpoint.policy;
  const { operation } = endpoint;
  const countsMisses = guessed.some((code) => operation.errors.includes(code));
  return { ...operation, countsMisses };
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** By path, in Express's syntax, and method; GET includes HEAD. */
export type Routes = Readonly<Record<string, Readonly<Partial<Record<Method, Endpoint>>>>>;
