import type { Request, Response } from 'express';
import type {
  ZodOpenApiParameters,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ProblemCode } from '../answers/problem-codes.ts';

/** The description of a route's method. document.ts adds what all of them share. */
export interface Operation {
  readonly operationId: string;
  readonly tag: 'pastes' | 'jobs' | 'tokens' | 'shell' | 'pages' | 'operation';
  /** `open`: callers are neither identified nor limited. `anyone`, `user`: a token is optional, required. */
  readonly access: 'open' | 'anyone' | 'user';
  /**
   * A browser that is signed in is nobody here: one whose token has expired must be able to sign in again.
   */
  readonly ignoresSession?: true;
  /** Answers may set cookies, also those with a problem. */
  readonly setsCookies?: true;
  /** It is a POST whose answer is not kept: it describes by itself what an Idempotency-Key does. */
  readonly hasOwnKey?: true;
  /** A token that only reads may use it, although it is no read: the endpoint checks what it may do. */
  readonly allowsReadTokens?: true;
  /** Pages of other sites may use it without credentials (CORS_ORIGINS). */
  readonly isShared?: true;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: ZodOpenApiParameters;
  readonly body?: ZodOpenApiRequestBodyObject;
  /** By status, without the problem documents. */
  readonly answers: Readonly<Record<number, ZodOpenApiResponseObject>>;
  /** The codes of its problem documents, without those of any request. */
  readonly errors: readonly ProblemCode[];
}

export type Handler = (req: Request, res: Response) => void | Promise<void>;

/** A method of a route: its handler and its description. */
export interface Endpoint {
  readonly operation: Operation;
  readonly handle: Handler;
  /** Answers a browser with a page. Without it, a browser gets what everybody gets. */
  readonly page?: Handler;
  /**
   * What a client of PrivateBin's gets instead. OpenAPI has one operation for a method and path:
   * docs/http-api.md describes this one.
   */
  readonly privateBin?: Endpoint;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** By path, in Express's syntax, and method; GET includes HEAD. */
export type Routes = Readonly<Record<string, Readonly<Partial<Record<Method, Endpoint>>>>>;
