import type { Request, Response } from 'express';
import type { ErrorCode } from '@pasteflow/domain';
import type {
  ZodOpenApiParameters,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';

/** What the document says of a route's method. What all of them have in common is added by document.ts. */
export interface Operation {
  readonly operationId: string;
  readonly tag: 'pastes' | 'jobs' | 'shell' | 'operation';
  /** Who may: `open` asks nobody who they are, and counts against no limit; `user` wants a token. */
  readonly access: 'open' | 'anyone' | 'user';
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: ZodOpenApiParameters;
  readonly body?: ZodOpenApiRequestBodyObject;
  /** By status, for all that is no problem document. */
  readonly answers: Readonly<Record<number, ZodOpenApiResponseObject>>;
  /** The codes of its problem documents, beside those that any request may get. */
  readonly errors: readonly ErrorCode[];
}

export type Handler = (req: Request, res: Response) => void | Promise<void>;

/** A method of a route: what is done, and what is said of it. */
export interface Endpoint {
  readonly operation: Operation;
  readonly handle: Handler;
}

export type Method = 'GET' | 'POST' | 'DELETE';

/** By path, as Express writes it, and method; HEAD goes with GET. */
export type Routes = Readonly<Record<string, Readonly<Partial<Record<Method, Endpoint>>>>>;
