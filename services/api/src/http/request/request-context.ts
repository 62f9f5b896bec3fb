import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ErrorCode, MessageContext } from '@pasteflow/domain';
import { TRACEPARENT, traceIdOf } from '@pasteflow/runtime';
import type { Caller } from './caller.ts';

/**
 * What is known of a request beside its bytes; handlers fill in what they find out, for the request's log
 * line.
 */
export interface RequestContext {
  readonly requestId: string;
  /** W3C trace context, when the client sent a valid one. */
  readonly traceparent: string | undefined;
  readonly startedAtMs: number;
  /** The pattern, never the path: a label has few values. */
  route: string;
  /** Once it is admitted; an open endpoint has none. */
  caller?: Caller;
  shortCode?: string;
  jobId?: string;
  sizeBytes?: number;
  /** The answer to an earlier request with the same Idempotency-Key is given again. */
  replayed?: true;
  errorCode?: ErrorCode;
  /** From when, and until when, it waited because the client wanted it to: that time is none of the api's own. */
  waitingSinceMs?: number;
  /** Without it: until now. */
  waitedUntilMs?: number;
}

const contexts = new WeakMap<IncomingMessage, RequestContext>();

/** What is taken over as X-Request-Id. */
export const REQUEST_ID = /^[\w.:-]{1,128}$/;

export function contextOf(req: IncomingMessage): RequestContext {
  const known = contexts.get(req);
  if (known !== undefined) return known;
  const { 'x-request-id': requestId, traceparent } = req.headers;
  const context: RequestContext = {
    requestId: typeof requestId === 'string' && REQUEST_ID.test(requestId) ? requestId : randomUUID(),
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    startedAtMs: performance.now(),
    route: 'none',
  };
  contexts.set(req, context);
  return context;
}

/** For every log line about a request. The trace is its client's; where this process traces, the line gets the span too. */
export function idsOf({ requestId, traceparent }: RequestContext): Readonly<Record<string, string>> {
  return { request_id: requestId, ...traceIdOf(traceparent) };
}

/** What a message takes along of the request that caused it. */
export function messageContextOf({ requestId, traceparent }: RequestContext): MessageContext {
  return { requestId, ...(traceparent !== undefined && { traceparent }) };
}

/** The path without its query: what may be shown and logged. */
export function pathOf(req: IncomingMessage): string {
  return (req.url ?? '/').split('?', 1)[0] ?? '/';
}
