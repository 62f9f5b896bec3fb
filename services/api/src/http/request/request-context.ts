import type { MessageContext } from '@pasteflow/domain';
import { traceIdOf, TRACEPARENT } from '@pasteflow/runtime';
import type { Site } from '@pasteflow/web';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ProblemCode } from '../answers/problem-codes.ts';
import type { Problem } from '../answers/problem.ts';
import type { Caller } from '../callers/caller.ts';

/** What is known about a request. Handlers add what they find out, for the request's log line and span. */
export interface RequestContext {
  readonly requestId: string;
  /** The client's W3C trace context, if valid. */
  readonly traceparent: string | undefined;
  readonly startedAtMs: number;
  /** The pattern of the route, never the path, because a metric's label must have few values. */
  route: string;
  /** Set at admission; an open endpoint has none. */
  caller?: Caller;
  shortCode?: string;
  /** The paste was named by this slug. */
  slug?: string;
  /** The id of a request for secrets, as in its link. */
  secretRequest?: string;
  /** The short code of a paste that was revealed or whose upload failed: only its timeline can be read. */
  endedPaste?: string;
  jobId?: string;
  sizeBytes?: number;
  /** The answer is that of an earlier request with the same Idempotency-Key. */
  replayed?: true;
  errorCode?: ProblemCode;
  /** The client is a browser that shows what it gets as a page. Not set: every client gets the same. */
  wantsPage?: boolean;
  /** The page's form as it was entered, for a problem that is shown beside its field; null: it is not. */
  refusedForm?: (problem: Problem) => string | null;
  /** The client is one of PrivateBin's, which expects errors in its own form. */
  privateBin?: true;
  /** The user who is signed in, for a page. */
  viewer?: NonNullable<Site['viewer']>;
  /** The cookie of a browser that is signed in does not count for this request. */
  ignoresSession?: true;
  /**
   * Another site has led the browser to what it can't read as nobody: the problem becomes a page that goes on to the same
   * address. The browser then comes from our own page, and says who it is.
   */
  goesOn?: true;
  /** A problem of authorization becomes the page on which the caller signs in. */
  mustSignIn?: true;
  /** The path to go to after signing in; not set: that of the request. */
  afterSignIn?: string;
  /** When the wait for an upload or a job began. Metrics exclude it. */
  waitingSinceMs?: number;
  /** When the wait ended; undefined: it still runs. */
  waitedUntilMs?: number;
}

const contexts = new WeakMap<IncomingMessage, RequestContext>();

/** The X-Request-Id values that are accepted from clients. */
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

/** The ids in each log line about a request. `trace_id` is the client's. */
export function idsOf({ requestId, traceparent }: RequestContext): Readonly<Record<string, string>> {
  return { request_id: requestId, ...traceIdOf(traceparent) };
}

/** What a message carries about the request that caused it. */
export function messageContextOf({ requestId, traceparent }: RequestContext): MessageContext {
  return { requestId, ...(traceparent !== undefined && { traceparent }) };
}

/** The path without the query, which may hold secrets and is neither shown nor logged. */
export function pathOf(req: IncomingMessage): string {
  return (req.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Whether a load balancer or an orchestrator asks for the health, under any name of the service. */
export function isProbe(req: IncomingMessage): boolean {
  return /^\/(healthz|readyz)(\?|$)/.test(req.url ?? '');
}
